"""``initialized``: what ``initialize`` must not wait for."""

from __future__ import annotations

from neurarch_lsp.lsp import configuration, publisher, warm_up, workspace_watch
from neurarch_lsp.lsp.server import NeurarchServer


def handle(server: NeurarchServer, _params: object) -> None:
    warm_up.start()
    workspace_watch.register(server)
    if server.client.pull_configuration:
        server.spawn(configuration.refresh(server), "configuration")
    elif not server.client.pull_diagnostics:
        server.spawn(publisher.push_workspace(server), "workspace diagnostics")
