"""Formatting of a JSON file in its author's style: the indent it has, short lists of scalars on one line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from neurarch_lsp.features.poll import Poll, never
from neurarch_schemas.documents.document import TextEdit

if TYPE_CHECKING:
    from neurarch_schemas.documents.json_document import JsonDocument

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"|[{}\[\]:,]|[^\s{}\[\]:,"]++')
_INDENT = re.compile(r'^([ \t]+)"', re.MULTILINE)
_LIST_ON_A_LINE = re.compile(r'\[[^\[\]{}"\n]*+(?:"(?:[^"\\\n]|\\.)*+"[^\[\]{}"\n]*+)*+\]')
MAX_EDITS = 5_000
"""More of them become one edit of all that lies between the first and the last: editors apply that sooner."""


def formatted(document: JsonDocument, poll: Poll = never) -> tuple[TextEdit, ...]:
    """Edits of whitespace between tokens and nothing else; () for a file with syntax problems or comments."""
    if document.problems or document.value_span("") is None:
        return ()
    text = document.text
    newline = "\r\n" if "\r\n" in text else "\n"
    edits: list[TextEdit] = []
    before = 0
    for token, gap in _gaps(text, _indent(text), newline):
        poll()
        if text[before : token.start()] != gap:
            edits.append(TextEdit((before, token.start()), gap))
        before = token.end()
    tail = newline if text[before:].strip() == "" and "\n" in text[before:] else ""
    if text[before:] != tail:
        edits.append(TextEdit((before, len(text)), tail))
    return tuple(edits) if len(edits) <= MAX_EDITS else (_joined(text, edits, poll),)


def _joined(text: str, edits: list[TextEdit], poll: Poll) -> TextEdit:
    parts: list[str] = []
    before = edits[0].span[0]
    for edit in edits:
        poll()
        parts += (text[before : edit.span[0]], edit.text)
        before = edit.span[1]
    return TextEdit((edits[0].span[0], before), "".join(parts))


def _indent(text: str) -> str:
    """The first indent of a key in the file; two spaces where there is none."""
    match = _INDENT.search(text)
    return match[1] if match else "  "


def _gaps(text: str, indent: str, newline: str) -> Iterator[tuple[re.Match[str], str]]:
    """The tokens, each with the whitespace that belongs before it."""
    depth = 0
    inline_until = 0
    before = ""
    for token in _TOKEN.finditer(text):
        mark = token.group()
        if mark in ("}", "]"):
            depth -= 1
        if token.start() < inline_until:
            gap = " " if before == "," else ""
        elif before == "" or mark in (",", ":") or (before in ("{", "[") and mark in ("}", "]")):
            gap = ""
        else:
            gap = " " if before == ":" else newline + indent * depth
        yield token, gap
        if mark in ("{", "["):
            depth += 1
            inline = _LIST_ON_A_LINE.match(text, token.start()) if mark == "[" else None
            inline_until = inline_until if inline is None else inline.end()
        before = mark if mark in ("{", "[", "}", "]", ":", ",") else "x"
