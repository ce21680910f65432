"""``textDocument/codeLens``: models in one line over the file, a module class, a config in code; a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from neurarch_lsp.lsp.python_requests import class_models
from neurarch_lsp.lsp.requests import newest, off_loop
from neurarch_lsp.lsp.server import NeurarchServer
from neurarch_lsp.render.model_card import one_line

if TYPE_CHECKING:
    from neurarch_lsp.lsp.job import Analysed
    from neurarch_lsp.lsp.positions import Positions


async def handle(server: NeurarchServer, params: types.CodeLensParams) -> list[types.CodeLens]:
    known = await newest(server, params.text_document)
    if known is None or not server.settings.of(params.text_document.uri).editor.code_lens:
        return []
    analysed, positions = known
    lenses = await _of_classes(server, analysed, positions)
    for number, config in enumerate(analysed.configs):
        if config.config is None:
            continue
        title = await off_loop(server, one_line, config, analysed.options)
        start = config.document.nearest_span("")[0]
        chosen = [] if analysed.python is None else [{"config": number}]
        command = types.Command(
            title=title or "no numbers for this model",
            command="neurarch.report",
            arguments=[analysed.document.uri, *chosen],
        )
        lenses.append(types.CodeLens(positions.range((start, start)), command))
    return lenses


async def _of_classes(server: NeurarchServer, analysed: Analysed, positions: Positions) -> list[types.CodeLens]:
    from neurarch_lsp.features import python_outline

    return [
        types.CodeLens(
            positions.range(model.name_span),
            types.Command(
                title=python_outline.one_line(model), command="neurarch.report", arguments=[analysed.document.uri]
            ),
        )
        for model in await class_models(server, analysed)
    ]
