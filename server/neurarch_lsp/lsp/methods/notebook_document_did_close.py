"""``notebookDocument/didClose``"""

from __future__ import annotations

from lsprotocol import types

from neurarch_lsp.lsp import publisher
from neurarch_lsp.lsp.server import NeurarchServer


def handle(server: NeurarchServer, params: types.DidCloseNotebookDocumentParams) -> None:
    for cell in params.cell_text_documents:
        document = server.documents.close(cell.uri)
        if document is not None:
            publisher.document_closed(server, document)
