"""``completionItem/resolve``: the documentation of one key, with its effect on this model."""

from __future__ import annotations

from lsprotocol import types

from neurarch_lsp.features.siblings import sibling_defaults
from neurarch_lsp.lsp.requests import newest, off_loop
from neurarch_lsp.lsp.server import NeurarchServer
from neurarch_lsp.render.hover import of_pointer
from neurarch_lsp.render.markup import to_markdown, to_plain


async def handle(server: NeurarchServer, params: types.CompletionItem) -> types.CompletionItem:
    data = params.data if isinstance(params.data, dict) else {}
    uri, pointer = data.get("uri"), data.get("pointer")
    if not isinstance(uri, str) or not isinstance(pointer, str):
        return params
    known = await newest(server, types.TextDocumentIdentifier(uri))
    if known is None or known[0].analysis is None:
        return params
    analysis = known[0].analysis
    blocks = await off_loop(server, of_pointer, analysis, pointer, known[0].options)
    blocks = [*blocks, *await off_loop(server, sibling_defaults, analysis, pointer)]
    if blocks:
        if server.client.completion_markdown:
            params.documentation = types.MarkupContent(types.MarkupKind.Markdown, to_markdown(blocks))
        else:
            params.documentation = types.MarkupContent(types.MarkupKind.PlainText, to_plain(blocks))
    return params
