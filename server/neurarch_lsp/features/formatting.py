"""Formatting of a JSON file in its author's style: the indent it has, short lists of scalars on one line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from neurarch_schemas.documents.document import TextEdit

if TYPE_CHECKING:
    from neurarch_schemas.documents.json_document import JsonDocument

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+')
_INDENT = re.compile(r'^([ \t]+)"', re.MULTILINE)


def formatted(document: JsonDocument) -> tuple[TextEdit, ...]:
    """Edits of whitespace between tokens and nothing else; () for a file with syntax problems or comments."""
    if document.problems or document.value_span("") is None:
        return ()
    text = document.text
    newline = "\r\n" if "\r\n" in text else "\n"
    indent = _indent(text)
    tokens = list(_TOKEN.finditer(text))
    edits: list[TextEdit] = []
    before = 0
    for token, gap in zip(tokens, _gaps(text, tokens, indent, newline), strict=True):
        if text[before : token.start()] != gap:
            edits.append(TextEdit((before, token.start()), gap))
        before = token.end()
    tail = newline if text[before:].strip() == "" and "\n" in text[before:] else ""
    if text[before:] != tail:
        edits.append(TextEdit((before, len(text)), tail))
    return tuple(edits)


def _indent(text: str) -> str:
    """The first indent of a key in the file; two spaces where there is none."""
    match = _INDENT.search(text)
    return match[1] if match else "  "


def _gaps(text: str, tokens: list[re.Match[str]], indent: str, newline: str) -> Iterator[str]:
    """The whitespace before each token."""
    depth = 0
    inline_until = -1
    before = ""
    for number, token in enumerate(tokens):
        mark = token.group()
        if mark in ("}", "]"):
            depth -= 1
        if number <= inline_until:
            yield " " if before == "," or (before == ":" and mark != "") else ""
        elif before == "" or mark in (",", ":"):
            yield ""
        elif before == ":":
            yield " "
        elif before in ("{", "[") and mark in ("}", "]"):
            yield ""
        else:
            yield newline + indent * depth
        if mark in ("{", "["):
            depth += 1
            end = _closing(tokens, number)
            if number > inline_until and end is not None and _stays_inline(text, tokens, number, end):
                inline_until = end
        before = mark if mark in ("{", "[", "}", "]", ":", ",") else "x"


def _closing(tokens: list[re.Match[str]], start: int) -> int | None:
    """The bracket that closes a list of scalars; None where something is nested, or for an object."""
    if tokens[start].group() != "[":
        return None
    for number in range(start + 1, len(tokens)):
        mark = tokens[number].group()
        if mark == "]":
            return number
        if mark in ("{", "[", "}"):
            return None
    return None


def _stays_inline(text: str, tokens: list[re.Match[str]], start: int, end: int) -> bool:
    return "\n" not in text[tokens[start].start() : tokens[end].end()]
