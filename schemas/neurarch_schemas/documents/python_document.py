"""A Python text as an immutable snapshot: syntax tree and ranges."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from neurarch_schemas.documents.document import Span, SyntaxProblem, TextEdit
from neurarch_schemas.documents.line_index import LineIndex

if TYPE_CHECKING:
    from tree_sitter import Node, Parser, Tree

_PIECE = 4096
"""Bytes read at once: about a millisecond."""
_BLOCK = 1024
"""Code points between two places whose byte offset is kept, in a text that is not ASCII."""


class PythonDocument:
    """``tree`` counts in bytes of UTF-8; ``span`` translates to code points.

    The tree is read when it is first asked for: most checks need none.
    """

    problems: tuple[SyntaxProblem, ...] = ()
    """None: what Python cannot read is found by the rule python-syntax."""

    def __init__(self, uri: str, version: int | None, text: str, source: bytes, tree: Tree | None = None) -> None:
        self.uri = uri
        self.version = version
        self.text = text
        self.source = source
        self._tree = tree

    @property
    def own_text(self) -> str:
        """Where every word of the document stands: its text."""
        return self.text

    @cached_property
    def tree(self) -> Tree:
        return self._tree if self._tree is not None else _read(self.source)

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
        return PythonDocument(self.uri, version, text, source, _read(source, tree))

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

    def errors(self) -> Iterator[Span]:
        """The places that are not Python, outermost first."""
        waiting = [self.root]
        while waiting:
            node = waiting.pop()
            if node.is_error or node.is_missing:
                yield self.span(node)
            elif node.has_error:
                waiting.extend(reversed(node.children))


def _read(source: bytes, before: Tree | None = None) -> Tree:
    """Piece by piece: between two pieces other threads get their turn, which else would wait for all of a file."""

    def piece(start: int, _: object) -> bytes:
        return source[start : start + _PIECE]

    return _parser().parse(piece) if before is None else _parser().parse(piece, before)


def _parser() -> Parser:
    import tree_sitter_python
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_python.language()))


def _point(source: bytes, at: int) -> tuple[int, int]:
    return source.count(b"\n", 0, at), at - source.rfind(b"\n", 0, at) - 1
