"""``textDocument/references``"""

from __future__ import annotations

from lsprotocol import types

from neurarch_lsp.lsp.navigation import references
from neurarch_lsp.lsp.python_texts import python_texts
from neurarch_lsp.lsp.requests import newest, off_loop
from neurarch_lsp.lsp.server import NeurarchServer


async def handle(server: NeurarchServer, params: types.ReferenceParams) -> list[types.Location] | None:
    known = await newest(server, params.text_document)
    if known is None:
        return None
    analysed, positions = known
    offset = positions.offset(params.position)
    return await off_loop(
        server, references, analysed, offset, positions, params.context.include_declaration, python_texts(server)
    )
