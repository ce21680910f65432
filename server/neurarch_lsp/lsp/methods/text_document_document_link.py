"""``textDocument/documentLink``"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lsprotocol import types

from neurarch_lsp.features.links import links
from neurarch_lsp.features.poll import Poll
from neurarch_lsp.lsp import uris
from neurarch_lsp.lsp.positions import Positions
from neurarch_lsp.lsp.requests import in_steps, newest
from neurarch_lsp.lsp.server import NeurarchServer

if TYPE_CHECKING:
    from neurarch_lsp.lsp.job import Analysed


async def handle(server: NeurarchServer, params: types.DocumentLinkParams) -> list[types.DocumentLink]:
    known = await newest(server, params.text_document)
    if known is None or known[0].analysis is None:
        return []
    analysed, positions = known
    return await in_steps(server, _links, analysed, positions, server.client.link_tooltips)


def _links(analysed: Analysed, positions: Positions, tooltips: bool, poll: Poll) -> list[types.DocumentLink]:
    """The links that lead somewhere: files only when they exist."""
    assert analysed.analysis is not None
    folder = os.path.dirname(analysed.document.path) if analysed.document.path else None
    there: dict[str, bool] = {}
    found: list[types.DocumentLink] = []
    for link in links(analysed.analysis.document, analysed.analysis.kind):
        poll()
        target = link.url
        if link.file is not None and folder is not None:
            path = os.path.join(folder, link.file)
            if path not in there:
                there[path] = os.path.isfile(path)
            if there[path]:
                target = uris.from_path(path)
        if target is not None:
            found.append(types.DocumentLink(positions.range(link.span), target, link.tooltip if tooltips else None))
    return found
