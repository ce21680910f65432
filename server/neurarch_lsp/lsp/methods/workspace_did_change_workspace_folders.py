"""``workspace/didChangeWorkspaceFolders``: the folders themselves are kept by pygls."""

from __future__ import annotations

from lsprotocol import types

from neurarch_lsp.lsp import configuration
from neurarch_lsp.lsp.server import NeurarchServer


def handle(server: NeurarchServer, _params: types.DidChangeWorkspaceFoldersParams) -> None:
    if server.client.pull_configuration:
        server.spawn(configuration.refresh(server), "configuration")
