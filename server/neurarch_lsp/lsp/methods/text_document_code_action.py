"""``textDocument/codeAction``: quick fixes of the findings under the cursor."""

from __future__ import annotations

from lsprotocol import types

from neurarch_lsp.lsp import code_actions
from neurarch_lsp.lsp.requests import off_loop
from neurarch_lsp.lsp.server import NeurarchServer


async def handle(server: NeurarchServer, params: types.CodeActionParams) -> list[types.CodeAction | types.Command]:
    document = server.documents.get(params.text_document.uri)
    analysed = await server.scheduler.newest(document.key) if document else None
    if analysed is None or analysed.checked is None:
        return []
    return await off_loop(server, code_actions.actions, server, analysed, params)
