"""``textDocument/foldingRange``"""

from __future__ import annotations

from lsprotocol import types

from neurarch_lsp.features.outline import folds
from neurarch_lsp.lsp.requests import newest, off_loop
from neurarch_lsp.lsp.server import NeurarchServer


async def handle(server: NeurarchServer, params: types.FoldingRangeParams) -> list[types.FoldingRange]:
    """Whole lines; the line of the closing bracket stays visible."""
    known = await newest(server, params.text_document)
    if known is None or known[0].analysis is None:
        return []
    found = await off_loop(server, folds, known[0].analysis.document, server.client.fold_limit)
    return [types.FoldingRange(first, last - 1) for first, last in found if last - 1 > first]
