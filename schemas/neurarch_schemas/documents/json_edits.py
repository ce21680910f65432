"""Minimal text edits which keep a JSON file's formatting."""

from __future__ import annotations

from collections.abc import Iterable

from neurarch_schemas.documents.document import TextEdit


def apply_edits(text: str, edits: Iterable[TextEdit]) -> str:
    """The text after ``edits``; all spans are in ``text``. Edits at one place are made in the order given."""
    parts: list[str] = []
    at = 0
    for edit in sorted(edits, key=lambda edit: edit.span):
        start, end = edit.span
        parts.append(text[at : max(start, at)])
        parts.append(edit.text)
        at = max(at, end)
    parts.append(text[at:])
    return "".join(parts)
