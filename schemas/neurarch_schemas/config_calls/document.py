"""A config that Python code constructs, as a JSON document whose places lie in that code."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from neurarch_schemas.documents.json_document import JsonDocument, Place
from neurarch_schemas.documents.nodes import Member, Node
from neurarch_schemas.documents.spelling import Spelling

if TYPE_CHECKING:
    from collections.abc import Mapping

    from neurarch_schemas.documents.document import Span, SyntaxProblem
    from neurarch_schemas.documents.json_document import Container


class PythonConfigDocument(JsonDocument):
    """``text`` is the whole Python text; ``name_span`` what stands for the config as a whole: the class's name.

    ``changed``: keys that a later statement sets, with the spans of its target's last name and of its value.
    ``elsewhere``: keys that count but are not written here, with a place that leads to them; no edit can reach them.
    """

    def __init__(
        self,
        uri: str,
        text: str,
        start: int,
        node: Node,
        name_span: Span,
        changed: Mapping[str, tuple[Span, Span]],
        elsewhere: Mapping[str, Span],
    ) -> None:
        value = node.data
        root = Node("array", len(text), [value])
        root.members = [Member(None, 0, 0, node.length, value, node)]
        root.starts = [start]
        super().__init__(uri, None, text, root)
        self.name_span = name_span
        self.changed = changed
        self.elsewhere = elsewhere

    @property
    def own_text(self) -> str:
        """The values alone: a file may construct thousands of configs."""
        return repr(self.data)

    @cached_property
    def spelling(self) -> Spelling:
        """Python's, with the kind of quotes the config uses most."""
        root = super().value_span("") or (0, 0)
        written = self.text[root[0] : root[1]]
        return Spelling(python=True, quote="'" if written.count("'") > written.count('"') else '"')

    @cached_property
    def _all_problems(self) -> tuple[SyntaxProblem, ...]:
        """None: what Python cannot read is found by the rule python-syntax."""
        return ()

    def opening(self, container: Container) -> int:
        """Of a call the bracket stands behind the name."""
        if container.kind == "array" or self.text[container.start] == "{":
            return container.start
        return self.text.index("(", container.start)

    def value_span(self, pointer: str) -> Span | None:
        changed = self.changed.get(pointer)
        return super().value_span(pointer) if changed is None else changed[1]

    def key_span(self, pointer: str) -> Span | None:
        """None for a positional argument, which has no key."""
        changed = self.changed.get(pointer)
        if changed is not None:
            return changed[0]
        span = super().key_span(pointer)
        return None if span is not None and span[0] == span[1] else span

    def pair_span(self, pointer: str) -> Span | None:
        changed = self.changed.get(pointer)
        return super().pair_span(pointer) if changed is None else (changed[0][0], changed[1][1])

    def nearest_span(self, pointer: str) -> Span:
        if pointer in self.elsewhere:
            return self.elsewhere[pointer]
        root = super().value_span("")
        found = super().nearest_span(pointer)
        return self.name_span if root is not None and found[0] == root[0] else found

    def pointer_at(self, offset: int) -> Place:
        for pointer, (key, value) in self.changed.items():
            if key[0] <= offset <= key[1]:
                return Place(pointer, "key")
            if value[0] <= offset <= value[1]:
                return Place(pointer, "value")
        return super().pointer_at(offset)
