"""``textDocument/definition``"""

from __future__ import annotations

from lsprotocol import types

from neurarch_lsp.lsp.navigation import definitions
from neurarch_lsp.lsp.python_texts import python_texts
from neurarch_lsp.lsp.requests import newest, off_loop
from neurarch_lsp.lsp.server import NeurarchServer


async def handle(
    server: NeurarchServer, params: types.DefinitionParams
) -> list[types.Location] | list[types.LocationLink] | None:
    known = await newest(server, params.text_document)
    if known is None:
        return None
    analysed, positions = known
    found = await off_loop(
        server, definitions, analysed, positions.offset(params.position), positions, python_texts(server)
    )
    if server.client.definition_links:
        return [
            types.LocationLink(target.uri, target.range, target.range, positions.range(origin))
            for origin, target in found
        ]
    return [target for _, target in found]
