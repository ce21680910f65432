"""Offsets to LSP positions and back: the one place where the negotiated encoding matters."""

from __future__ import annotations

from dataclasses import dataclass

from lsprotocol import types

from neurarch_lsp.lsp.open_documents import OpenDocument
from neurarch_schemas.documents.document import Span
from neurarch_schemas.documents.line_index import LineIndex, PositionEncoding


@dataclass(frozen=True, slots=True)
class Positions:
    lines: LineIndex
    encoding: PositionEncoding

    def position(self, offset: int) -> types.Position:
        line, character = self.lines.encoded_position(offset, self.encoding)
        return types.Position(line, character)

    def offset(self, position: types.Position) -> int:
        """A position behind the end of a line or of the text is moved to that end, as LSP asks."""
        return self.lines.encoded_offset(position.line, position.character, self.encoding)

    def range(self, span: Span) -> types.Range:
        return types.Range(self.position(span[0]), self.position(span[1]))

    def span(self, range_: types.Range) -> Span:
        start = self.offset(range_.start)
        return start, max(start, self.offset(range_.end))


def positions_of(document: OpenDocument, encoding: PositionEncoding) -> Positions:
    return Positions(document.lines, encoding)
