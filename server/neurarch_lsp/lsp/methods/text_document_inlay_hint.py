"""``textDocument/inlayHint``"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from neurarch_lsp.features.inlay_hints import Hint, hints
from neurarch_lsp.lsp.requests import newest, off_loop
from neurarch_lsp.lsp.server import NeurarchServer

if TYPE_CHECKING:
    from neurarch_schemas.analysis import Analysis
    from neurarch_schemas.documents.document import Span

MAX_HINTS = 500


async def handle(server: NeurarchServer, params: types.InlayHintParams) -> list[types.InlayHint]:
    known = await newest(server, params.text_document)
    if known is None or not server.settings.of(params.text_document.uri).editor.inlay_hints:
        return []
    analysed, positions = known
    span = positions.span(params.range)
    found = await off_loop(server, _hints, analysed.configs, span)
    resolves = "tooltip" in server.client.inlay_resolve
    return [
        types.InlayHint(
            position=positions.position(hint.offset),
            label=hint.label,
            kind=types.InlayHintKind.Type,
            padding_left=True,
            tooltip=None if resolves else hint.tooltip,
            data={"uri": analysed.document.uri, "pointer": hint.pointer, "config": config} if resolves else None,
        )
        for config, hint in found[:MAX_HINTS]
    ]


def _hints(configs: tuple[Analysis, ...], span: Span) -> list[tuple[int, Hint]]:
    """Each with the number of the config it is about."""
    return [(number, hint) for number, config in enumerate(configs) for hint in hints(config, span)]
