"""A Python text as an immutable snapshot: syntax tree, ranges, and the comments that speak to us."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from neurarch_schemas.documents.document import Span, SyntaxProblem, TextEdit
from neurarch_schemas.documents.line_index import LineIndex

if TYPE_CHECKING:
    from tree_sitter import Node, Parser, Tree

_DIRECTIVE = re.compile(
    r"#[ \t]*neurarch:[ \t]*(?:"
    r"(?P<kind>(?:file-)?ignore)[ \t]*\[(?P<rules>[^\]\n\r]*)\][ \t]*(?P<reason>[^\n\r]*)|(?P<expression>[^\n\r]+))"
)
_BLOCK = 1024
"""Code points between two places whose byte offset is kept, in a text that is not ASCII."""


@dataclass(frozen=True, slots=True)
class IgnoreComment:
    """``# neurarch: ignore[rule, rule] reason``, or ``file-ignore`` for the whole file.

    ``rules`` are the names with their spans; ``line`` is the comment's (0-based), ``is_alone`` when nothing else stands
    on that line, so that the next one is meant.
    """

    span: Span
    line: int
    is_alone: bool
    whole_file: bool
    rules: tuple[tuple[str, Span], ...]
    reason: str


@dataclass(frozen=True, slots=True)
class ExpressionComment:
    """``# neurarch: GPT(n_layer=12)``: ``expression`` is what follows the colon, at ``span``."""

    span: Span
    line: int
    expression: str


class PythonDocument:
    """``tree`` counts in bytes of UTF-8; ``span`` and ``node_at`` translate from and to code points.

    The tree is read when it is first asked for: most checks need none.
    """

    problems: tuple[SyntaxProblem, ...] = ()
    """Python's syntax is other tools' business."""

    def __init__(self, uri: str, version: int | None, text: str, source: bytes, tree: Tree | None = None) -> None:
        self.uri = uri
        self.version = version
        self.text = text
        self.source = source
        self._tree = tree

    @cached_property
    def tree(self) -> Tree:
        return self._tree if self._tree is not None else _parser().parse(self.source)

    @classmethod
    def parse(cls, text: str, uri: str = "", version: int | None = None) -> PythonDocument:
        """Reads any text; where it is not Python the tree has ERROR and MISSING nodes."""
        source = text.encode("utf-8", "surrogatepass")
        return cls(uri, version, text, source)

    def edited(self, edits: Sequence[TextEdit], version: int | None = None) -> PythonDocument:
        """The document after ``edits``, whose spans are in this text and do not overlap; only what changed is read."""
        text, source = self.text, self.source
        tree = self.tree.copy()
        for edit in sorted(edits, key=lambda edit: edit.span, reverse=True):
            start, end = self.byte_offset(edit.span[0]), self.byte_offset(edit.span[1])
            added = edit.text.encode("utf-8", "surrogatepass")
            changed = source[:start] + added + source[end:]
            tree.edit(
                start,
                end,
                start + len(added),
                _point(source, start),
                _point(source, end),
                _point(changed, start + len(added)),
            )
            source = changed
            text = text[: edit.span[0]] + edit.text + text[edit.span[1] :]
        return PythonDocument(self.uri, version, text, source, _parser().parse(source, tree))

    @cached_property
    def lines(self) -> LineIndex:
        return LineIndex(self.text)

    @property
    def root(self) -> Node:
        return self.tree.root_node

    @property
    def has_errors(self) -> bool:
        return self.root.has_error

    @cached_property
    def _is_ascii(self) -> bool:
        return len(self.source) == len(self.text)

    @cached_property
    def _blocks(self) -> list[int]:
        """Byte offset of each multiple of ``_BLOCK`` code points."""
        offsets = [0]
        for start in range(0, len(self.text), _BLOCK):
            offsets.append(offsets[-1] + len(self.text[start : start + _BLOCK].encode("utf-8", "surrogatepass")))
        return offsets

    def byte_offset(self, offset: int) -> int:
        """Bytes before a code point offset, which is moved into the text."""
        offset = min(max(offset, 0), len(self.text))
        if self._is_ascii:
            return offset
        block = offset // _BLOCK
        begun = self.text[block * _BLOCK : offset]
        return self._blocks[block] + len(begun.encode("utf-8", "surrogatepass"))

    def offset(self, byte_offset: int) -> int:
        """Code points before a byte offset; one inside a character counts as before it."""
        if byte_offset >= len(self.source):
            return len(self.text)
        byte_offset = max(byte_offset, 0)
        if self._is_ascii:
            return byte_offset
        block = bisect_right(self._blocks, byte_offset) - 1
        begun = self.source[self._blocks[block] : byte_offset]
        # Bytes of the form 10xxxxxx go on with a character.
        count = sum(byte & 0xC0 != 0x80 for byte in begun)
        inside = self.source[byte_offset] & 0xC0 == 0x80
        return block * _BLOCK + count - inside

    def span(self, node: Node) -> Span:
        return self.offset(node.start_byte), self.offset(node.end_byte)

    def node_text(self, node: Node) -> str:
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "surrogatepass")

    def node_at(self, start: int, end: int | None = None) -> Node | None:
        """The smallest named node that covers a range of code points."""
        first = self.byte_offset(start)
        last = first if end is None else self.byte_offset(end)
        return self.root.named_descendant_for_byte_range(first, last)

    def errors(self) -> Iterator[Span]:
        """The places that are not Python, outermost first."""
        waiting = [self.root]
        while waiting:
            node = waiting.pop()
            if node.is_error or node.is_missing:
                yield self.span(node)
            elif node.has_error:
                waiting.extend(reversed(node.children))

    @cached_property
    def ignores(self) -> tuple[IgnoreComment, ...]:
        return tuple(found for found in self._directives if isinstance(found, IgnoreComment))

    @cached_property
    def expressions(self) -> tuple[ExpressionComment, ...]:
        return tuple(found for found in self._directives if isinstance(found, ExpressionComment))

    @cached_property
    def _directives(self) -> tuple[IgnoreComment | ExpressionComment, ...]:
        if "neurarch:" not in self.text:
            return ()
        found: list[IgnoreComment | ExpressionComment] = []
        for match in _DIRECTIVE.finditer(self.text):
            comment = self.root.descendant_for_byte_range(
                self.byte_offset(match.start()), self.byte_offset(match.start() + 1)
            )
            if comment is None or comment.type != "comment":
                continue
            line = self.lines.line_of(match.start())
            if match["kind"] is None:
                expression = match["expression"].rstrip()
                begin = match.start("expression")
                found.append(ExpressionComment((begin, begin + len(expression)), line, expression))
                continue
            begin = match.start("rules")
            rules = tuple(
                (name[0], (begin + name.start(), begin + name.end()))
                for name in re.finditer(r"[^\s,]+", match["rules"])
            )
            alone = not self.text[self.lines.line_start(line) : match.start()].strip()
            end = match.start() + len(match[0].rstrip())
            reason = match["reason"].strip()
            found.append(
                IgnoreComment((match.start(), end), line, alone, match["kind"] == "file-ignore", rules, reason)
            )
        return tuple(found)


def _parser() -> Parser:
    import tree_sitter_python
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_python.language()))


def _point(source: bytes, at: int) -> tuple[int, int]:
    return source.count(b"\n", 0, at), at - source.rfind(b"\n", 0, at) - 1
