"""``textDocument/hover``"""

from __future__ import annotations

from lsprotocol import types

from neurarch_lsp.lsp.python_requests import class_models
from neurarch_lsp.lsp.requests import newest, off_loop
from neurarch_lsp.lsp.server import NeurarchServer
from neurarch_lsp.render.hover import hover


async def handle(server: NeurarchServer, params: types.HoverParams) -> types.Hover | None:
    known = await newest(server, params.text_document)
    if known is None:
        return None
    analysed, positions = known
    offset = positions.offset(params.position)
    config = analysed.config_at(offset)
    found = None
    if config is not None:
        # Neighbouring values are built anew: not on the loop.
        found = await off_loop(server, hover, config, offset, analysed.options)
    if found is None and analysed.python is not None:
        from neurarch_lsp.features import config_field_hover, python_outline

        models = await class_models(server, analysed)
        found = await off_loop(server, python_outline.hover, models, analysed.document.text, offset)
        found = found or await off_loop(server, config_field_hover.hover, analysed.document.text, offset)
    if found is None:
        return None
    if server.client.hover_markdown:
        contents = types.MarkupContent(types.MarkupKind.Markdown, found.markdown())
    else:
        contents = types.MarkupContent(types.MarkupKind.PlainText, found.plain())
    return types.Hover(contents, positions.range(found.span))
