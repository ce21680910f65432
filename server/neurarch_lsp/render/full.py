"""A finding with the source line it is about, a caret under it, the other places involved and the repairs known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from neurarch_lsp.render.report import FileReport, Position, file_of, range_of
from neurarch_lsp.render.style import Style
from neurarch_rules.engine.finding import Finding

if TYPE_CHECKING:
    from neurarch_schemas.documents.line_index import LineIndex

MAX_WIDTH = 120
"""Longer source lines (minified JSON) are cut around the marked part."""


def render(reports: Iterable[FileReport], style: Style) -> str:
    return "".join(
        piece for report in reports for finding in report.findings for piece in _finding(finding, report, style)
    )


def _finding(finding: Finding, report: FileReport, style: Style) -> Iterator[str]:
    severity = finding.severity or "error"
    start, end = range_of(finding.place, report)
    yield f"{style.severity(severity, severity)}{style.bold(f'[{finding.rule}]')} {finding.message}\n"
    yield f"{style.dim('  -->')} {file_of(finding.place, report)}:{start[0]}:{start[1]}\n"
    document = None if finding.place.file is None else report.sibling(finding.place.file)
    lines = report.lines if finding.place.file is None else None if document is None else document.lines
    if lines is not None:
        yield from _excerpt(lines, start, end, style, severity)
    for related in finding.related:
        line, column = range_of(related.place, report)[0]
        yield f"{style.dim('   =')} {file_of(related.place, report)}:{line}:{column}: {related.message}\n"
    for fix in finding.fixes:
        how = {"safe": "fix", "unsafe": "fix with --unsafe-fixes", "display": "suggestion"}[fix.applicability]
        yield f"{style.dim('   =')} {how}: {fix.title}\n"
    yield "\n"


def _excerpt(lines: LineIndex, start: Position, end: Position, style: Style, severity: str) -> Iterator[str]:
    text = lines.line_text(start[0] - 1).rstrip("\r\n")
    if not text.strip():
        return
    first = start[1] - 1
    last = end[1] - 1 if end[0] == start[0] else len(text)
    last = max(first + 1, min(last, max(len(text), first + 1)))
    shown, first, last = _window(text, first, last)
    number = str(start[0])
    gutter = " " * len(number)
    caret = " " * _width(shown[:first]) + "^" * max(1, _width(shown[first:last]))
    yield f"{style.dim(f' {gutter} |')}\n"
    yield f"{style.dim(f' {number} |')} {_printable(shown)}\n"
    yield f"{style.dim(f' {gutter} |')} {style.severity(severity, caret)}\n"


def _window(text: str, first: int, last: int) -> tuple[str, int, int]:
    if len(text) <= MAX_WIDTH:
        return text, first, last
    begin = max(0, min(first - 40, len(text) - MAX_WIDTH))
    cut = text[begin : begin + MAX_WIDTH]
    head, tail = ("..." if begin else ""), ("..." if begin + MAX_WIDTH < len(text) else "")
    shift = len(head) - begin
    return head + cut + tail, first + shift, min(last + shift, len(head) + len(cut))


def _printable(text: str) -> str:
    return "".join("\N{REPLACEMENT CHARACTER}" if _is_control(character) else character for character in text).replace(
        "\t", " "
    )


def _is_control(character: str) -> bool:
    return character != "\t" and (
        ord(character) < 32 or 0x7F <= ord(character) < 0xA0 or 0xDC80 <= ord(character) < 0xDD00
    )


def _width(text: str) -> int:
    """Columns on a terminal: East Asian wide characters and most emoji take two."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(character) else 2 if east_asian_width(character) in "WF" else 1 for character in text)
