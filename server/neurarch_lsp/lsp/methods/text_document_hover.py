"""``textDocument/hover``"""

from __future__ import annotations

import asyncio

from lsprotocol import types

from neurarch_lsp.lsp.positions import positions_of
from neurarch_lsp.lsp.server import NeurarchServer
from neurarch_lsp.render.hover import hover


async def handle(server: NeurarchServer, params: types.HoverParams) -> types.Hover | None:
    document = server.documents.get(params.text_document.uri)
    analysed = await server.scheduler.newest(document.key) if document else None
    if analysed is None or analysed.analysis is None:
        return None
    positions = positions_of(analysed.document, server.documents.encoding)
    offset = positions.offset(params.position)
    # Neighbouring values are built anew: not on the loop.
    found = await asyncio.get_running_loop().run_in_executor(
        server.pool, hover, analysed.analysis, offset, analysed.options
    )
    if found is None:
        return None
    if server.client.hover_markdown:
        contents = types.MarkupContent(types.MarkupKind.Markdown, found.markdown())
    else:
        contents = types.MarkupContent(types.MarkupKind.PlainText, found.plain())
    return types.Hover(contents, positions.range(found.span))
