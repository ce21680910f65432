"""``textDocument/didClose``: the diagnostics go with the document."""

from __future__ import annotations

from lsprotocol import types

from neurarch_lsp.lsp import publisher
from neurarch_lsp.lsp.server import NeurarchServer


def handle(server: NeurarchServer, params: types.DidCloseTextDocumentParams) -> None:
    document = server.documents.close(params.text_document.uri)
    if document is not None:
        publisher.document_closed(server, document)
