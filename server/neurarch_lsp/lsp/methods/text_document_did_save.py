"""``textDocument/didSave``: a saved settings or sibling file changes what is found in others."""

from __future__ import annotations

from lsprotocol import types

from neurarch_lsp.lsp import publisher
from neurarch_lsp.lsp.server import NeurarchServer


def handle(server: NeurarchServer, params: types.DidSaveTextDocumentParams) -> None:
    publisher.files_changed(server, frozenset({params.text_document.uri}))
