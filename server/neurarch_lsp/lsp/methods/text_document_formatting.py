"""``textDocument/formatting``: for editors that have no JSON formatter of their own."""

from __future__ import annotations

from lsprotocol import types

from neurarch_lsp.features.formatting import formatted
from neurarch_lsp.features.poll import Poll
from neurarch_lsp.lsp.positions import Positions
from neurarch_lsp.lsp.requests import in_steps, newest
from neurarch_lsp.lsp.server import NeurarchServer
from neurarch_lsp.lsp.workspace_edits import text_edits
from neurarch_schemas.documents.json_document import JsonDocument


async def handle(server: NeurarchServer, params: types.DocumentFormattingParams) -> list[types.TextEdit] | None:
    known = await newest(server, params.text_document)
    if known is None or known[0].analysis is None:
        return None
    return await in_steps(server, _edits, known[0].analysis.document, known[1])


def _edits(document: JsonDocument, positions: Positions, poll: Poll) -> list[types.TextEdit]:
    return text_edits(positions, formatted(document, poll))
