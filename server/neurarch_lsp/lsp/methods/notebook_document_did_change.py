"""``notebookDocument/didChange``: cells that came, went or were edited."""

from __future__ import annotations

from lsprotocol import types

from neurarch_lsp.lsp import publisher
from neurarch_lsp.lsp.server import NeurarchServer


def handle(server: NeurarchServer, params: types.DidChangeNotebookDocumentParams) -> None:
    cells = params.change.cells
    if cells is None:
        return
    if cells.structure is not None:
        for gone in cells.structure.did_close or ():
            closed = server.documents.close(gone.uri)
            if closed is not None:
                publisher.document_closed(server, closed)
        for item in cells.structure.did_open or ():
            publisher.document_changed(server, server.documents.open(item, notebook=params.notebook_document.uri))
    for change in cells.text_content or ():
        document = server.documents.change(change.document.uri, change.document.version, change.changes)
        if document is not None:
            publisher.document_changed(server, document)
