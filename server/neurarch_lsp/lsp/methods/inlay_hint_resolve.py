"""``inlayHint/resolve``: the tooltip explains the key the value follows from."""

from __future__ import annotations

from lsprotocol import types

from neurarch_lsp.lsp.requests import config_of, off_loop
from neurarch_lsp.lsp.server import NeurarchServer
from neurarch_lsp.render.hover import of_pointer
from neurarch_lsp.render.markup import to_markdown, to_plain


async def handle(server: NeurarchServer, params: types.InlayHint) -> types.InlayHint:
    known = await config_of(server, params.data)
    if known is not None:
        analysed, config, pointer = known
        blocks = await off_loop(server, of_pointer, config, pointer, analysed.options)
        if server.client.hover_markdown:
            params.tooltip = types.MarkupContent(types.MarkupKind.Markdown, to_markdown(blocks))
        else:
            params.tooltip = to_plain(blocks)
    return params
