"""``shutdown``: nothing is saved, so nothing is left to do but to drop what is running."""

from __future__ import annotations

from neurarch_lsp.lsp.server import NeurarchServer


def handle(server: NeurarchServer, _params: object) -> None:
    for document in server.documents:
        server.scheduler.forget(document.key)
