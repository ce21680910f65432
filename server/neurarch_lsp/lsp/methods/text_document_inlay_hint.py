"""``textDocument/inlayHint``"""

from __future__ import annotations

from lsprotocol import types

from neurarch_lsp.features.inlay_hints import hints
from neurarch_lsp.lsp.requests import newest, off_loop
from neurarch_lsp.lsp.server import NeurarchServer

MAX_HINTS = 500


async def handle(server: NeurarchServer, params: types.InlayHintParams) -> list[types.InlayHint]:
    known = await newest(server, params.text_document)
    if (
        known is None
        or known[0].analysis is None
        or not server.settings.of(params.text_document.uri).editor.inlay_hints
    ):
        return []
    analysed, positions = known
    found = await off_loop(server, hints, analysed.analysis, positions.span(params.range))
    resolves = "tooltip" in server.client.inlay_resolve
    return [
        types.InlayHint(
            position=positions.position(hint.offset),
            label=hint.label,
            kind=types.InlayHintKind.Type,
            padding_left=True,
            tooltip=None if resolves else hint.tooltip,
            data={"uri": analysed.document.uri, "pointer": hint.pointer} if resolves else None,
        )
        for hint in found[:MAX_HINTS]
    ]
