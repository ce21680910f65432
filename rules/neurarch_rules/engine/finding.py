"""A finding: one diagnosis about one place, with the repairs that are known for it.

Named tuples, because their classes cost a tenth of a dataclass at start-up.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from neurarch_schemas.documents.document import Span, TextEdit

Severity = Literal["error", "warning", "info", "hint"]
Category = Literal["correctness", "training", "serving", "hygiene", "security"]
Applicability = Literal["safe", "unsafe", "display"]


class Place(NamedTuple):
    """Where: a JSON pointer (the key may be absent), or a span in a Python file. Resolved to a range late.

    ``on`` chooses the part of a pair that is marked. ``file`` is None for the document itself, else the name of a
    file beside it.
    """

    pointer: str | None
    span: Span | None = None
    on: Literal["key", "value", "pair"] = "value"
    file: str | None = None


class Related(NamedTuple):
    place: Place
    message: str


class Fix(NamedTuple):
    """Text edits in original coordinates that do not overlap; they keep the file's formatting."""

    title: str
    applicability: Applicability
    edits: tuple[TextEdit, ...]


class Finding(NamedTuple):
    """``rule``, ``severity`` and ``category`` are filled by the engine from the rule's metadata and the settings."""

    message: str
    place: Place
    related: tuple[Related, ...] = ()
    fixes: tuple[Fix, ...] = ()
    tags: tuple[Literal["deprecated", "unnecessary"], ...] = ()
    severity: Severity | None = None
    """None: the rule's own severity. A rule may speak more softly where it is less sure, never louder."""
    rule: str = ""
    category: Category = "correctness"
