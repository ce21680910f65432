"""``textDocument/didOpen``"""

from __future__ import annotations

from lsprotocol import types

from neurarch_lsp.lsp import publisher
from neurarch_lsp.lsp.server import NeurarchServer


def handle(server: NeurarchServer, params: types.DidOpenTextDocumentParams) -> None:
    publisher.document_changed(server, server.documents.open(params.text_document))
