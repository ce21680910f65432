"""``notebookDocument/didOpen``: each Python cell is a document of its own."""

from __future__ import annotations

from lsprotocol import types

from neurarch_lsp.lsp import publisher
from neurarch_lsp.lsp.server import NeurarchServer


def handle(server: NeurarchServer, params: types.DidOpenNotebookDocumentParams) -> None:
    for cell in params.cell_text_documents:
        publisher.document_changed(server, server.documents.open(cell, notebook=params.notebook_document.uri))
