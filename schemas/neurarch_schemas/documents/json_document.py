"""A JSON text read tolerantly: plain values for everybody, source ranges for whoever asks by JSON pointer."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Literal, NamedTuple

from neurarch_schemas.documents.document import Span, SyntaxProblem, TextEdit
from neurarch_schemas.documents.json_value import JSONValue
from neurarch_schemas.documents.line_index import LineIndex
from neurarch_schemas.documents.nodes import Member, Node, NodeKind
from neurarch_schemas.documents.parser import Frame, Parser
from neurarch_schemas.documents.pointer import join_pointer, split_pointer

__all__ = ["JsonDocument", "Place", "join_pointer", "split_pointer"]

Part = Literal["key", "value", "object", "array", "outside"]
LFS = re.compile(r"version https://git-lfs\.github\.com/spec/")


class Place(NamedTuple):
    """Where a cursor stands: ``pointer`` names the innermost pair or element, ``part`` says what of it.

    "key": on the key, or before the value. "value": on a scalar value, or at a bracket of a container. "object" and
    "array": between the members of that container, which ``pointer`` names. "outside": beside the document's value.
    """

    pointer: str
    part: Part


class Container(NamedTuple):
    """An object or a list of a document; the member ``members[i]`` begins at ``start + starts[i]``."""

    start: int
    end: int
    node: Node

    @property
    def kind(self) -> NodeKind:
        return self.node.kind

    @property
    def members(self) -> list[Member]:
        return self.node.members or []

    @property
    def starts(self) -> list[int]:
        return self.node.starts

    def index_of(self, key: str) -> int | None:
        return self.node.index_of(key)


class JsonDocument:
    """An immutable snapshot. ``data`` are plain values as json.loads gives them (the last duplicate wins)."""

    def __init__(
        self, uri: str, version: int | None, text: str, root: Node, problems: tuple[SyntaxProblem, ...]
    ) -> None:
        self.uri = uri
        self.version = version
        self.text = text
        self.problems = problems
        self._root = root

    @classmethod
    def parse(cls, text: str, uri: str = "", version: int | None = None) -> JsonDocument:
        parser = Parser(text, comments_allowed=uri.endswith(".jsonc"))
        frame = Frame("array", 0)
        parser.frames.append(frame)
        at = 0
        if text.startswith("\ufeff"):
            parser.report("json-bom", "the file begins with a byte order mark, which JSON does not allow", 0, 1)
            at = 1
        head = text[at : at + 200].lstrip()
        end = 0
        if head.startswith("<") and not head.startswith("<<<<<<<"):
            message = "this is a web page (HTML or XML), not JSON: a failed download?"
            parser.report("json-syntax", message, at, _line_end(text, at))
        elif LFS.match(head):
            message = "this is a Git LFS pointer, not the file itself: run `git lfs pull`"
            parser.report("json-syntax", message, at, _line_end(text, at))
        elif not head:
            parser.report("json-syntax", "the file is empty", 0, 0)
        else:
            at = parser.skip(at)
            found = parser.value(at)
            end = found.end
            if found.readable:
                frame.members.append(Member(None, 0, 0, found.end - at, found.value, found.node))
                frame.starts.append(at)
            rest = parser.skip(found.end)
            if rest < len(text):
                parser.report("json-syntax", "text after the end of the JSON value", rest, _line_end(text, rest))
        root = parser.finish(frame, end)
        return cls(uri, version, text, root, tuple(_located(root, 0, "", True)))

    @property
    def data(self) -> JSONValue:
        members = self._root.members
        return members[0].value if members else None

    @cached_property
    def lines(self) -> LineIndex:
        return LineIndex(self.text)

    def edited(self, edits: Sequence[TextEdit], version: int | None = None) -> JsonDocument:
        """The document after ``edits``, whose spans are all in this document's text and do not overlap."""
        from neurarch_schemas.documents.json_edits import apply_edits

        return JsonDocument.parse(apply_edits(self.text, edits), self.uri, version)

    def _find(self, pointer: str) -> tuple[Node, int, int] | None:
        """The node that holds the member ``pointer`` names, that node's offset, and the member's index."""
        node, start, at = self._root, 0, 0
        if not self._root.members:
            return None
        for key in split_pointer(pointer):
            member = (node.members or [])[at]
            if member.child is None:
                return None
            start += node.starts[at] + member.value_start
            node = member.child
            found = node.index_of(key)
            if found is None:
                return None
            at = found
        return node, start, at

    def value_span(self, pointer: str) -> Span | None:
        found = self._find(pointer)
        if found is None:
            return None
        node, start, at = found
        member = (node.members or [])[at]
        if member.value_length < 0:
            return None
        begin = start + node.starts[at] + member.value_start
        return begin, begin + member.value_length

    def key_span(self, pointer: str) -> Span | None:
        """The key's string, quotes included; None for elements of lists and for the document itself."""
        found = self._find(pointer)
        if found is None:
            return None
        node, start, at = found
        member = (node.members or [])[at]
        if member.key is None:
            return None
        begin = start + node.starts[at]
        return begin, begin + member.key_length

    def pair_span(self, pointer: str) -> Span | None:
        """Key through value; the value alone in a list and for the document itself."""
        found = self._find(pointer)
        if found is None:
            return None
        node, start, at = found
        begin = start + node.starts[at]
        return begin, begin + (node.members or [])[at].length

    def nearest_span(self, pointer: str) -> Span:
        """The key (in a list the value) of ``pointer`` or of its nearest written ancestor, at last the opening brace."""
        keys = split_pointer(pointer)
        for count in range(len(keys), 0, -1):
            written = join_pointer("", *keys[:count])
            span = self.key_span(written) or self.value_span(written)
            if span is not None:
                return span
        root = self.value_span("")
        if root is None:
            return 0, min(1, len(self.text))
        return root[0], min(root[0] + 1, root[1]) if isinstance(self.data, dict | list) else root[1]

    def keys(self, pointer: str = "") -> tuple[str, ...]:
        """The children in source order: keys of an object (each once), indices of a list as text."""
        found = self._find(pointer)
        child = (found[0].members or [])[found[2]].child if found is not None else None
        if child is None:
            return ()
        members = child.members or []
        if child.kind == "array":
            return tuple(map(str, range(len(members))))
        return tuple(dict.fromkeys(member.key for member in members if member.key is not None))

    def container(self, pointer: str) -> Container | None:
        """The object or list at ``pointer`` with its members' places; None where there is none."""
        found = self._find(pointer)
        if found is None:
            return None
        node, start, at = found
        member = (node.members or [])[at]
        if member.child is None:
            return None
        begin = start + node.starts[at] + member.value_start
        return Container(begin, begin + member.value_length, member.child)

    def container_at(self, offset: int) -> Container | None:
        """The innermost object or list around ``offset``."""
        node, start, found = self._root, 0, None
        while True:
            at = bisect_right(node.starts, offset - start) - 1
            if at < 0:
                return found
            member = (node.members or [])[at]
            begin = start + node.starts[at] + member.value_start
            if member.child is None or not begin < offset < begin + member.value_length:
                return found
            node, start = member.child, begin
            found = Container(begin, begin + member.value_length, node)

    def spelled(self, pointer: str) -> str | None:
        """The raw text of a value, as it was written."""
        span = self.value_span(pointer)
        return None if span is None else self.text[span[0] : span[1]]

    def pointer_at(self, offset: int) -> Place:
        """The innermost pair or element at ``offset``; a place right behind a key or scalar still belongs to it."""
        node, start, pointer = self._root, 0, ""
        first = True
        while True:
            members = node.members or []
            at = bisect_right(node.starts, offset - start) - 1
            outside = Place(pointer, "outside" if first else node.kind)
            if at < 0:
                return outside
            member = members[at]
            begin = start + node.starts[at]
            if offset > begin + member.length:
                return outside
            if not first:
                pointer = join_pointer(pointer, at if member.key is None else member.key)
            if member.key is not None and (member.value_length < 0 or offset < begin + member.value_start):
                return Place(pointer, "key")
            value = begin + member.value_start
            if member.child is None:
                return Place(pointer, "value")
            if offset <= value or offset >= value + member.value_length:
                return Place(pointer, "value")
            node, start, first = member.child, value, False


def _line_end(text: str, at: int) -> int:
    match = re.compile(r"[^\n\r]*").match(text, at)
    return match.end() if match is not None else at


def _located(node: Node, start: int, pointer: str, is_root: bool = False) -> Iterator[SyntaxProblem]:
    members = node.members or []
    for problem in node.problems:
        where = pointer
        if problem.member is not None and not is_root:
            key = members[problem.member].key
            where = join_pointer(pointer, problem.member if key is None else key)
        related = problem.related and (start + problem.related[0], start + problem.related[1])
        yield SyntaxProblem(
            problem.rule, problem.message, (start + problem.start, start + problem.end), where, related or None
        )
    for at, member in enumerate(members):
        if member.child is not None:
            inner = pointer if is_root else join_pointer(pointer, at if member.key is None else member.key)
            yield from _located(member.child, start + node.starts[at] + member.value_start, inner)
