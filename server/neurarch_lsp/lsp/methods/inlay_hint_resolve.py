"""``inlayHint/resolve``: the tooltip explains the key the value follows from."""

from __future__ import annotations

from lsprotocol import types

from neurarch_lsp.lsp.requests import newest, off_loop
from neurarch_lsp.lsp.server import NeurarchServer
from neurarch_lsp.render.hover import of_pointer
from neurarch_lsp.render.markup import to_markdown, to_plain


async def handle(server: NeurarchServer, params: types.InlayHint) -> types.InlayHint:
    data = params.data if isinstance(params.data, dict) else {}
    uri, pointer = data.get("uri"), data.get("pointer")
    if isinstance(uri, str) and isinstance(pointer, str):
        known = await newest(server, types.TextDocumentIdentifier(uri))
        if known is not None and known[0].analysis is not None:
            blocks = await off_loop(server, of_pointer, known[0].analysis, pointer, known[0].options)
            if server.client.hover_markdown:
                params.tooltip = types.MarkupContent(types.MarkupKind.Markdown, to_markdown(blocks))
            else:
                params.tooltip = to_plain(blocks)
    return params
