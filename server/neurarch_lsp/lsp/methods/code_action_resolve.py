"""``codeAction/resolve``: the edit of an action that was offered without it."""

from __future__ import annotations

from lsprotocol import types

from neurarch_lsp.lsp import code_actions
from neurarch_lsp.lsp.server import NeurarchServer


async def handle(server: NeurarchServer, params: types.CodeAction) -> types.CodeAction:
    uri = params.data.get("uri") if isinstance(params.data, dict) else None
    document = server.documents.get(uri) if isinstance(uri, str) else None
    analysed = await server.scheduler.newest(document.key) if document else None
    if analysed is None or params.edit is not None:
        return params
    return await code_actions.resolve(server, analysed, params)
