"""``textDocument/formatting``: for editors that have no JSON formatter of their own."""

from __future__ import annotations

from lsprotocol import types

from neurarch_lsp.features.formatting import formatted
from neurarch_lsp.lsp.requests import newest, off_loop
from neurarch_lsp.lsp.server import NeurarchServer
from neurarch_lsp.lsp.workspace_edits import text_edits


async def handle(server: NeurarchServer, params: types.DocumentFormattingParams) -> list[types.TextEdit] | None:
    known = await newest(server, params.text_document)
    if known is None or known[0].analysis is None:
        return None
    return text_edits(known[1], await off_loop(server, formatted, known[0].analysis.document))
