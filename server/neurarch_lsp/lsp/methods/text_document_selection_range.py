"""``textDocument/selectionRange``"""

from __future__ import annotations

from lsprotocol import types

from neurarch_lsp.features.outline import selections
from neurarch_lsp.lsp.requests import newest
from neurarch_lsp.lsp.server import NeurarchServer


async def handle(server: NeurarchServer, params: types.SelectionRangeParams) -> list[types.SelectionRange] | None:
    known = await newest(server, params.text_document)
    if known is None or known[0].analysis is None:
        return None
    positions = known[1]
    answer: list[types.SelectionRange] = []
    for position in params.positions:
        found: types.SelectionRange | None = None
        for span in reversed(selections(known[0].analysis.document, positions.offset(position))):
            found = types.SelectionRange(positions.range(span), found)
        answer.append(found or types.SelectionRange(types.Range(position, position)))
    return answer
