"""``completionItem/resolve``: the documentation of one key, with its effect on this model."""

from __future__ import annotations

from lsprotocol import types

from neurarch_lsp.features.siblings import sibling_defaults
from neurarch_lsp.lsp.requests import config_of, off_loop
from neurarch_lsp.lsp.server import NeurarchServer
from neurarch_lsp.render.hover import of_pointer
from neurarch_lsp.render.markup import to_markdown, to_plain


async def handle(server: NeurarchServer, params: types.CompletionItem) -> types.CompletionItem:
    known = await config_of(server, params.data)
    if known is None:
        return params
    analysed, config, pointer = known
    blocks = await off_loop(server, of_pointer, config, pointer, analysed.options)
    blocks = [*blocks, *await off_loop(server, sibling_defaults, config, pointer)]
    if blocks:
        if server.client.completion_markdown:
            params.documentation = types.MarkupContent(types.MarkupKind.Markdown, to_markdown(blocks))
        else:
            params.documentation = types.MarkupContent(types.MarkupKind.PlainText, to_plain(blocks))
    return params
