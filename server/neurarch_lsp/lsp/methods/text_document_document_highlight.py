"""``textDocument/documentHighlight``: the keys bound to the one under the cursor."""

from __future__ import annotations

from lsprotocol import types

from neurarch_lsp.lsp.navigation import highlights
from neurarch_lsp.lsp.requests import newest
from neurarch_lsp.lsp.server import NeurarchServer


async def handle(server: NeurarchServer, params: types.DocumentHighlightParams) -> list[types.DocumentHighlight] | None:
    known = await newest(server, params.text_document)
    if known is None:
        return None
    positions = known[1]
    offset = positions.offset(params.position)
    config = known[0].config_at(offset)
    if config is None:
        return None
    return [
        types.DocumentHighlight(
            positions.range(span), types.DocumentHighlightKind.Write if own else types.DocumentHighlightKind.Read
        )
        for span, own in highlights(config, offset)
    ]
