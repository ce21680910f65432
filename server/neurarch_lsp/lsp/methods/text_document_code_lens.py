"""``textDocument/codeLens``: the model in one line above the file; opens the report."""

from __future__ import annotations

from lsprotocol import types

from neurarch_lsp.lsp.requests import newest, off_loop
from neurarch_lsp.lsp.server import NeurarchServer
from neurarch_lsp.render.model_card import one_line


async def handle(server: NeurarchServer, params: types.CodeLensParams) -> list[types.CodeLens]:
    known = await newest(server, params.text_document)
    if known is None or known[0].analysis is None or not server.settings.of(params.text_document.uri).editor.code_lens:
        return []
    analysed, positions = known
    analysis = known[0].analysis
    if analysis.config is None:
        return []
    title = await off_loop(server, one_line, analysis, analysed.options)
    root = analysis.document.value_span("")
    place = positions.range((root[0], root[0]) if root else (0, 0))
    command = types.Command(
        title=title or "no numbers for this model", command="neurarch.report", arguments=[analysed.document.uri]
    )
    return [types.CodeLens(place, command)]
