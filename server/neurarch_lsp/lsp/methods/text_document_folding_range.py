"""``textDocument/foldingRange``"""

from __future__ import annotations

from lsprotocol import types

from neurarch_lsp.features.outline import folds
from neurarch_lsp.features.poll import Poll
from neurarch_lsp.lsp.requests import in_steps, newest
from neurarch_lsp.lsp.server import NeurarchServer
from neurarch_schemas.documents.json_document import JsonDocument


async def handle(server: NeurarchServer, params: types.FoldingRangeParams) -> list[types.FoldingRange]:
    """Whole lines; the line of the closing bracket stays visible."""
    known = await newest(server, params.text_document)
    if known is None or known[0].analysis is None:
        return []
    return await in_steps(server, _ranges, known[0].analysis.document, server.client.fold_limit)


def _ranges(document: JsonDocument, limit: int | None, poll: Poll) -> list[types.FoldingRange]:
    found: list[types.FoldingRange] = []
    for first, last in folds(document, limit, poll):
        poll()
        if last - 1 > first:
            found.append(types.FoldingRange(first, last - 1))
    return found
