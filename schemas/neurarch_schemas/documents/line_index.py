"""Offsets, lines and columns of a text, and columns as LSP clients count them.

Lines end at ``\\n``, ``\\r\\n`` and ``\\r`` only, as LSP has it: a form feed or U+2028 is an ordinary character.
Lines and columns are 0-based; offsets and columns are code points unless an encoding is named.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from typing import Literal, NamedTuple

PositionEncoding = Literal["utf-8", "utf-16", "utf-32"]

_BLOCK = 4096
"""Code points between two places whose line number is kept; in between, lines are counted when asked for."""


class Position(NamedTuple):
    line: int
    column: int


class LineIndex:
    """The lines of one text. Building costs one count over the text, on first use."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._units: dict[PositionEncoding, list[int]] = {}

    @cached_property
    def _only_newlines(self) -> bool:
        return "\r" not in self.text

    @cached_property
    def _blocks(self) -> list[int]:
        """The line number at each multiple of ``_BLOCK``, and of the end."""
        numbers = [0]
        total = 0
        for start in range(0, len(self.text), _BLOCK):
            total += self._count(start, min(start + _BLOCK, len(self.text)))
            numbers.append(total)
        return numbers

    def _count(self, start: int, end: int) -> int:
        """Line breaks whose last character lies in the range."""
        text = self.text
        count = text.count("\n", start, end)
        if not self._only_newlines:
            count += text.count("\r", start, end) - text.count("\r\n", start, end)
            if end > start and text[end - 1] == "\r" and text[end : end + 1] == "\n":
                count -= 1
        return count

    @cached_property
    def line_count(self) -> int:
        """At least one; a text that ends in a line break has an empty last line."""
        return self._blocks[-1] + 1

    def line_of(self, offset: int) -> int:
        offset = min(max(offset, 0), len(self.text))
        block = offset // _BLOCK
        return self._blocks[block] + self._count(block * _BLOCK, offset)

    def line_start(self, line: int) -> int:
        """Offset of the first character; of the text's end for a line beyond the last."""
        if line <= 0:
            return 0
        if line >= self.line_count:
            return len(self.text)
        block = bisect_right(self._blocks, line - 1) - 1
        at = block * _BLOCK
        for _ in range(line - self._blocks[block]):
            at = self._after_break(at)
        return at

    def _after_break(self, start: int) -> int:
        text = self.text
        newline = text.find("\n", start)
        if not self._only_newlines:
            end = newline if newline >= 0 else len(text)
            back = text.find("\r", start, end)
            if back >= 0 and back + 1 != newline:
                return back + 1
        return newline + 1

    def line_end(self, line: int) -> int:
        """Offset behind the last character of the line, its line break left out."""
        if line < 0:
            return 0
        if line + 1 >= self.line_count:
            return len(self.text)
        end = self.line_start(line + 1)
        return end - 2 if self.text[end - 2 : end] == "\r\n" else end - 1

    def line_text(self, line: int) -> str:
        """The line without its break; "" beyond the last."""
        return self.text[self.line_start(line) : self.line_end(line)]

    def position(self, offset: int) -> Position:
        """Line and column in code points; an offset outside the text is moved to its nearest end."""
        offset = min(max(offset, 0), len(self.text))
        line = self.line_of(offset)
        start = self._start_before(offset)
        return Position(line, offset - start)

    def _start_before(self, offset: int) -> int:
        """Where the line begins that ``offset`` stands on."""
        block = offset // _BLOCK
        found = self._start_within(block * _BLOCK, offset)
        return self._line_starts[block] if found < 0 else found

    @cached_property
    def _line_starts(self) -> list[int]:
        """Where the line begins that each multiple of ``_BLOCK`` stands on: a file may be one line of megabytes."""
        starts = [0]
        for offset in range(_BLOCK, len(self.text) + 1, _BLOCK):
            found = self._start_within(offset - _BLOCK, offset)
            starts.append(starts[-1] if found < 0 else found)
        return starts

    def _start_within(self, begin: int, offset: int) -> int:
        """As ``_start_before``, -1 where no line break lies between ``begin`` and ``offset``."""
        text = self.text
        start = text.rfind("\n", begin, offset) + 1
        if not self._only_newlines:
            back = text.rfind("\r", max(start, begin), offset)
            if back >= 0 and text[back + 1 : back + 2] == "\n" and back + 1 == offset:
                # Between the two characters of one line break: still on the line it ends.
                back = text.rfind("\r", max(start, begin), back)
            start = max(start, back + 1)
        return start or -1

    def offset(self, line: int, column: int) -> int:
        """Lines and columns outside the text are moved to the nearest place that exists, as LSP asks."""
        if line < 0:
            return 0
        if line >= self.line_count:
            return len(self.text)
        return min(self.line_start(line) + max(column, 0), self.line_end(line))

    def encoded_position(self, offset: int, encoding: PositionEncoding) -> Position:
        """As ``position``, with the column in units of ``encoding``."""
        offset = min(max(offset, 0), len(self.text))
        line, column = self.position(offset)
        if encoding == "utf-32" or self.text.isascii():
            return Position(line, column)
        if column > _BLOCK:
            return Position(line, self._units_before(offset, encoding) - self._units_before(offset - column, encoding))
        return Position(line, _units(self.text[offset - column : offset], encoding))

    def encoded_offset(self, line: int, column: int, encoding: PositionEncoding) -> int:
        """As ``offset``, with the column in units of ``encoding``; inside a character counts as before it."""
        if encoding == "utf-32" or line < 0 or line >= self.line_count or self.text.isascii():
            return self.offset(line, column)
        start, end = self.line_start(line), self.line_end(line)
        if column <= 0:
            return start
        if end - start > _BLOCK:
            units = self._units_at_blocks(encoding)
            wanted = self._units_before(start, encoding) + column
            begin = (bisect_right(units, wanted) - 1) * _BLOCK
            if begin > start:
                column = wanted - units[begin // _BLOCK]
                start = min(begin, end)
        return start + _code_points(self.text[start : min(end, start + 2 * _BLOCK)], column, encoding)

    def _units_before(self, offset: int, encoding: PositionEncoding) -> int:
        block = offset // _BLOCK
        return self._units_at_blocks(encoding)[block] + _units(self.text[block * _BLOCK : offset], encoding)

    def _units_at_blocks(self, encoding: PositionEncoding) -> list[int]:
        """Units before each multiple of ``_BLOCK``."""
        if encoding not in self._units:
            found = [0]
            for start in range(0, len(self.text), _BLOCK):
                found.append(found[-1] + _units(self.text[start : start + _BLOCK], encoding))
            self._units[encoding] = found
        return self._units[encoding]


def _units(text: str, encoding: PositionEncoding) -> int:
    if text.isascii():
        return len(text)
    if encoding == "utf-8":
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _code_points(text: str, column: int, encoding: PositionEncoding) -> int:
    """How many code points lie before ``column`` units."""
    seen = 0
    for count, character in enumerate(text):
        seen += _units(character, encoding)
        if seen > column:
            return count
    return len(text)
