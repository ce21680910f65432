"""``textDocument/didChange``"""

from __future__ import annotations

import logging

from lsprotocol import types

from neurarch_lsp.lsp import publisher
from neurarch_lsp.lsp.server import NeurarchServer

logger = logging.getLogger(__name__)


def handle(server: NeurarchServer, params: types.DidChangeTextDocumentParams) -> None:
    identifier = params.text_document
    document = server.documents.change(identifier.uri, identifier.version, params.content_changes)
    if document is None:
        logger.warning("a change to %s, which is not open", identifier.uri)
        return
    publisher.document_changed(server, document)
