"""``workspace/didChangeConfiguration``"""

from __future__ import annotations

from lsprotocol import types

from neurarch_lsp.lsp import configuration, publisher
from neurarch_lsp.lsp.server import NeurarchServer


def handle(server: NeurarchServer, params: types.DidChangeConfigurationParams) -> None:
    """A client that can be asked is asked, because only then the folders' own settings are known."""
    if server.client.pull_configuration:
        server.spawn(configuration.refresh(server), "configuration")
        return
    settings = configuration.from_change(params.settings)
    if settings is not None:
        server.settings.replace(settings)
        publisher.surroundings_changed(server)
