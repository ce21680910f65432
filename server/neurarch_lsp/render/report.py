"""The findings of one file with what a renderer needs to show them; plain values, no terminal, no protocol."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from neurarch_rules.engine.finding import Finding, Place
from neurarch_rules.engine.locate import span_of
from neurarch_schemas.documents.document import Span
from neurarch_schemas.documents.line_index import LineIndex

if TYPE_CHECKING:
    from neurarch_schemas.documents.json_document import JsonDocument
    from neurarch_schemas.documents.python_document import PythonDocument

DOCUMENTATION = "https://github.com/neurarch-ai/neurarch-lsp/blob/main/rules/neurarch_rules/rules/{}.md"

Position = tuple[int, int]
"""Line and column, 1-based, in code points."""


class FileReport(NamedTuple):
    """``file``: the name as the user gave it; ``sibling``: the document of a file beside it, by relative name."""

    file: str
    document: JsonDocument | PythonDocument
    findings: tuple[Finding, ...]
    sibling: Callable[[str], JsonDocument | PythonDocument | None] = lambda _: None
    text: str | None = None
    """The text where it is not the document's: a settings file."""

    @property
    def lines(self) -> LineIndex:
        return self.document.lines if self.text is None else LineIndex(self.text)


def rule_url(rule: str) -> str:
    return DOCUMENTATION.format(rule.replace("-", "_"))


def file_of(place: Place, report: FileReport) -> str:
    """The file a place is in, named the way the report's own file is."""
    if place.file is None:
        return report.file
    folder, slash, _ = report.file.rpartition("/")
    return folder + slash + place.file


def range_of(place: Place, report: FileReport) -> tuple[Position, Position]:
    if place.file is None and place.span is not None:
        return range_in_lines(place.span, report.lines)
    document = report.document if place.file is None else report.sibling(place.file)
    if document is None:
        return ((1, 1), (1, 1))
    return range_of_span(span_of(place, document), document)


def range_of_span(span: Span, document: JsonDocument | PythonDocument) -> tuple[Position, Position]:
    return range_in_lines(span, document.lines)


def range_in_lines(span: Span, lines: LineIndex) -> tuple[Position, Position]:
    start_line, start_column = lines.position(span[0])
    end_line, end_column = lines.position(span[1])
    return ((start_line + 1, start_column + 1), (end_line + 1, end_column + 1))
