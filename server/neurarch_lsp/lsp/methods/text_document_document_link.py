"""``textDocument/documentLink``"""

from __future__ import annotations

import os

from lsprotocol import types

from neurarch_lsp.features.links import Link, links
from neurarch_lsp.lsp import uris
from neurarch_lsp.lsp.requests import newest, off_loop
from neurarch_lsp.lsp.server import NeurarchServer
from neurarch_schemas.documents.json_document import JsonDocument


async def handle(server: NeurarchServer, params: types.DocumentLinkParams) -> list[types.DocumentLink]:
    known = await newest(server, params.text_document)
    if known is None or known[0].analysis is None:
        return []
    analysed, positions = known
    analysis = known[0].analysis
    found = await off_loop(server, _targets, analysis.document, analysis.kind, analysed.document.path)
    tooltips = server.client.link_tooltips
    return [
        types.DocumentLink(positions.range(link.span), target, link.tooltip if tooltips else None)
        for link, target in found
    ]


def _targets(document: JsonDocument, kind: str, path: str | None) -> list[tuple[Link, str]]:
    """The links that lead somewhere: files only when they exist."""
    folder = os.path.dirname(path) if path else None
    there: dict[str, bool] = {}
    found: list[tuple[Link, str]] = []
    for link in links(document, kind):
        if link.url is not None:
            found.append((link, link.url))
        elif link.file is not None and folder is not None:
            target = os.path.join(folder, link.file)
            if there.setdefault(target, os.path.isfile(target)):
                found.append((link, uris.from_path(target)))
    return found
