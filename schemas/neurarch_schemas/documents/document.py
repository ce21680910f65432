"""An immutable snapshot of one text, and what was wrong with its syntax."""

from __future__ import annotations

from typing import Literal

from neurarch_schemas.record import Record

Span = tuple[int, int]
"""Half-open range of code point offsets into the text."""

FileKind = Literal["config", "generation_config", "adapter_config", "params", "index", "python", "settings"]
"""What a file is to us, by its content (see detect.py)."""

SyntaxRule = Literal["json-syntax", "json-duplicate-key", "json-comment", "json-nonfinite", "json-bom"]


class TextEdit(Record):
    """Replace ``span`` by ``text``; offsets are in the original text."""

    span: Span
    text: str


class SyntaxProblem(Record):
    """``pointer`` is the nearest enclosing value; ``related`` e.g. the first of two duplicate keys.

    ``fix`` is the edit that surely repairs it, where there is one (a comma too many, ``True`` for ``true``).
    """

    rule: SyntaxRule
    message: str
    span: Span
    pointer: str
    related: Span | None = None
    fix: TextEdit | None = None
