"""Edits as LSP wants them, with the version of the document they were computed for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from lsprotocol import types

from neurarch_lsp.lsp.positions import Positions
from neurarch_schemas.documents.document import TextEdit

if TYPE_CHECKING:
    from neurarch_lsp.lsp.open_documents import OpenDocument
    from neurarch_lsp.lsp.server import NeurarchServer


def text_edits(positions: Positions, edits: Iterable[TextEdit]) -> list[types.TextEdit]:
    return [types.TextEdit(positions.range(edit.span), edit.text) for edit in edits]


def document_edit(server: NeurarchServer, document: OpenDocument, edits: Iterable[TextEdit]) -> types.WorkspaceEdit:
    """Edits of one open document. A client that knows versions refuses them when the document has moved on."""
    converted = text_edits(Positions(document.lines, server.documents.encoding), edits)
    if server.client.document_changes:
        identifier = types.OptionalVersionedTextDocumentIdentifier(document.uri, document.version)
        return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(identifier, list(converted))])
    return types.WorkspaceEdit(changes={document.uri: converted})
