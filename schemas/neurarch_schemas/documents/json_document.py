"""A JSON text read tolerantly: plain values for everybody, source ranges for whoever asks by JSON pointer."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Literal, NamedTuple

from neurarch_schemas.documents.document import Span, SyntaxProblem, TextEdit
from neurarch_schemas.documents.expand import expand
from neurarch_schemas.documents.json_value import JSONValue
from neurarch_schemas.documents.line_index import LineIndex
from neurarch_schemas.documents.nodes import NOT_READ, Member, Node, NodeKind
from neurarch_schemas.documents.pointer import join_pointer, split_pointer
from neurarch_schemas.documents.reader import read
from neurarch_schemas.documents.spelling import JSON, Spelling

__all__ = ["JsonDocument", "Place", "join_pointer", "split_pointer"]

Part = Literal["key", "value", "object", "array", "outside"]
MAX_PROBLEMS = 100
"""So many syntax problems of one file are told at most; one more then says how many there are."""
_MANY_EDITS = 8
"""More edits at once than this, and the text is read afresh."""


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
    """An immutable snapshot. ``version`` is whatever the caller counts; a ``uri`` in .jsonc allows comments."""

    def __init__(self, uri: str, version: int | None, text: str, root: Node) -> None:
        self.uri = uri
        self.version = version
        self.text = text
        self._root = root

    @property
    def own_text(self) -> str:
        """Where every word of the document stands: its text."""
        return self.text

    @classmethod
    def parse(cls, text: str, uri: str = "", version: int | None = None) -> JsonDocument:
        """Reads any text; what is wrong with it is in ``problems``, nothing raises."""
        return cls(uri, version, text, read(text, _allows_comments(uri)))

    def edited(self, edits: Sequence[TextEdit], version: int | None = None) -> JsonDocument:
        """The document after ``edits``, whose spans are all in this document's text and do not overlap.

        Values that no edit touches are the same objects before and after.
        """
        from neurarch_schemas.documents.incremental import edited_tree

        text, root = self.text, self._root
        ordered = sorted(edits, key=lambda edit: edit.span, reverse=True)
        comments_allowed = _allows_comments(self.uri)
        known = len(ordered) <= _MANY_EDITS
        for edit in ordered:
            start, end = edit.span
            new = f"{text[:start]}{edit.text}{text[end:]}"
            if known:
                tree = edited_tree(root, text, new, edit, comments_allowed)
                root = read(new, comments_allowed) if tree is None else tree
            text = new
        if not known:
            root = read(text, comments_allowed)
        return JsonDocument(self.uri, version, text, root)

    @property
    def data(self) -> JSONValue:
        """Plain values, as json.loads gives them where the text is sound; the last of equal keys wins."""
        members = self._root.members
        return members[0].value if members else None

    @cached_property
    def problems(self) -> tuple[SyntaxProblem, ...]:
        """What is wrong with the text, in order of place."""
        every = self._all_problems
        if len(every) <= MAX_PROBLEMS:
            return every
        first = every[MAX_PROBLEMS]
        message = f"and {len(every) - MAX_PROBLEMS:,} more problems from here on"
        last = [problem for problem in every[MAX_PROBLEMS:] if problem.message == NOT_READ]
        more = SyntaxProblem("json-syntax", message, first.span, first.pointer)
        return (*every[:MAX_PROBLEMS], more, *last)

    @cached_property
    def _all_problems(self) -> tuple[SyntaxProblem, ...]:
        return tuple(sorted(_located(self._root, 0, "", True), key=lambda problem: problem.span))

    @cached_property
    def lines(self) -> LineIndex:
        return LineIndex(self.text)

    def is_damaged(self, pointer: str) -> bool:
        """Whether a syntax problem lies in the value at ``pointer``, which then may hold less than was meant."""
        span = self.pair_span(pointer)
        return span is not None and any(
            problem.rule == "json-syntax" and span[0] <= problem.span[0] < max(span[1], span[0] + 1)
            for problem in self._all_problems
        )

    def _find(self, pointer: str) -> tuple[Node, int, int] | None:
        """The node that holds the member ``pointer`` names, that node's offset, and the member's index."""
        node, start, at = self._root, 0, 0
        if not self._root.members:
            return None
        for key in split_pointer(pointer):
            member = (node.members or [])[at]
            child = member.node
            if child is None:
                return None
            start += node.starts[at] + member.value_start
            node = expand(child, self.text, start)
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
        """The key (in a list the value) of ``pointer`` or its nearest written ancestor, at last the opening brace."""
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
        container = self.container(pointer)
        if container is None:
            return ()
        members = container.members
        if container.kind == "array":
            return tuple(map(str, range(len(members))))
        return tuple(dict.fromkeys(member.key for member in members if member.key is not None))

    def container(self, pointer: str) -> Container | None:
        """The object or list at ``pointer`` with its members' places; None where there is none."""
        found = self._find(pointer)
        if found is None:
            return None
        node, start, at = found
        member = (node.members or [])[at]
        child = member.node
        if child is None:
            return None
        begin = start + node.starts[at] + member.value_start
        return Container(begin, begin + member.value_length, expand(child, self.text, begin))

    def inner(self, container: Container, at: int) -> Container | None:
        """The object or list that is the member ``at`` of a container; None for any other value."""
        member = container.members[at]
        child = member.node
        if child is None:
            return None
        begin = container.start + container.starts[at] + member.value_start
        return Container(begin, begin + member.value_length, expand(child, self.text, begin))

    @property
    def spelling(self) -> Spelling:
        """How keys and values are written."""
        return JSON

    def opening(self, container: Container) -> int:
        """Where the opening bracket of a container stands."""
        return container.start

    def container_at(self, offset: int) -> Container | None:
        """The innermost object or list around ``offset``."""
        node, start, found = self._root, 0, None
        while True:
            at = bisect_right(node.starts, offset - start) - 1
            if at < 0:
                return found
            member = (node.members or [])[at]
            begin = start + node.starts[at] + member.value_start
            child = member.node
            if child is None or not begin < offset < begin + member.value_length:
                return found
            node, start = expand(child, self.text, begin), begin
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
            child = member.node
            if child is None:
                return Place(pointer, "value")
            if offset <= value or offset >= value + member.value_length:
                return Place(pointer, "value")
            node, start, first = expand(child, self.text, value), value, False


def _allows_comments(uri: str) -> bool:
    return uri.endswith(".jsonc")


def _located(node: Node, start: int, pointer: str, is_root: bool = False) -> Iterator[SyntaxProblem]:
    """The problems of a node that begins at ``start``, and of those inside it."""
    for problem in node.problems:
        span = (start + problem.start, start + problem.end)
        where = pointer if problem.key is None else join_pointer(pointer, problem.key)
        related, fix = problem.related, problem.fix
        yield SyntaxProblem(
            problem.rule,
            problem.message,
            span,
            where,
            None if related is None else (start + related[0], start + related[1]),
            None if fix is None else TextEdit((start + fix[0], start + fix[1]), fix[2]),
        )
    for at, member in enumerate(node.members or ()):
        if member.child is not None:
            inner = pointer if is_root else join_pointer(pointer, at if member.key is None else member.key)
            yield from _located(member.child, start + node.starts[at] + member.value_start, inner)
