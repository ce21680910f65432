"""Minimal text edits which keep a JSON file's formatting: indentation, newline style, inline or one pair a line.

Every function gives edits in the document's own coordinates which do not overlap. Where the place cannot be found, or
is too damaged to be edited safely, the result is empty.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from neurarch_schemas.documents.document import Span, TextEdit
from neurarch_schemas.documents.json_document import Container, JsonDocument
from neurarch_schemas.documents.json_style import Style, element_style, is_on_own_line, line_indent, render
from neurarch_schemas.documents.json_value import JSONValue
from neurarch_schemas.documents.pointer import join_pointer, split_pointer

Edits = tuple[TextEdit, ...]

_GAP = re.compile(r"[ \t]*(,?)[ \t]*((?://[^\n\r]*)|(?:/\*[^\n\r]*?\*/)|(?:#[^\n\r]*))?[ \t]*(?=[\n\r]|\Z)")
"""From the end of a member to the end of its line: a comma, a comment."""


def apply_edits(text: str, edits: Iterable[TextEdit]) -> str:
    """The text after ``edits``, all of whose spans are in ``text``. Insertions at one place keep the order given."""
    parts: list[str] = []
    at = 0
    for edit in sorted(edits, key=lambda edit: edit.span):
        start, end = edit.span
        parts.append(text[at : max(start, at)])
        parts.append(edit.text)
        at = max(at, end)
    parts.append(text[at:])
    return "".join(parts)


def rename_key(document: JsonDocument, pointer: str, new_key: str) -> Edits:
    span = document.key_span(pointer)
    return () if span is None else (TextEdit(span, json.dumps(new_key, ensure_ascii=False)),)


def replace_value(document: JsonDocument, pointer: str, value: JSONValue) -> Edits:
    """Writes another value at a pointer that has one."""
    span = document.value_span(pointer)
    if span is None:
        return ()
    site = _site(document, pointer)
    style = Style.of_document(document) if site is None else element_style(document, site.container, site.index)
    if site is not None and "\n" not in (old := document.text[span[0] : span[1]]) and "\r" not in old:
        # A list or an object in one line stays in one line.
        style = style._replace(inline=style.inline or old[0] in "[{")
    return (TextEdit(span, render(value, style)),)


def set_value(document: JsonDocument, pointer: str, value: JSONValue, after: str | None = None) -> Edits:
    """Replaces the value, or inserts the pair; objects on the way which are absent (or null) are made."""
    if document.value_span(pointer) is not None:
        return replace_value(document, pointer, value)
    keys = split_pointer(pointer)
    for count in range(len(keys) - 1, -1, -1):
        parent = join_pointer("", *keys[:count])
        if document.value_span(parent) is None:
            continue
        for key in reversed(keys[count + 1 :]):
            value = {key: value}
        container = document.container(parent)
        if container is not None and container.kind == "object":
            return insert_pair(document, parent, keys[count], value, after=after if count == len(keys) - 1 else None)
        return replace_value(document, parent, {keys[count]: value}) if document.spelled(parent) == "null" else ()
    return ()


def insert_pair(
    document: JsonDocument,
    pointer: str,
    key: str,
    value: JSONValue,
    after: str | None = None,
    before: str | None = None,
) -> Edits:
    """A new pair in the object at ``pointer``: behind or before a sibling, else at the end."""
    container = document.container(pointer)
    if container is None or container.kind != "object":
        return ()
    index = len(container.members)
    if after is not None and (found := container.index_of(after)) is not None:
        index = found + 1
    elif before is not None and (found := container.index_of(before)) is not None:
        index = found
    return _insert(document, container, index, json.dumps(key, ensure_ascii=False), value)


def insert_element(document: JsonDocument, pointer: str, index: int, value: JSONValue) -> Edits:
    """A new element of the list at ``pointer``, which then has this index (at most: the end of the list)."""
    container = document.container(pointer)
    if container is None or container.kind != "array":
        return ()
    return _insert(document, container, min(max(index, 0), len(container.members)), None, value)


def remove_pair(document: JsonDocument, pointer: str) -> Edits:
    """Removes a pair or an element together with its comma, and its line where it has one to itself."""
    site = _site(document, pointer)
    return () if site is None else _remove(document.text, site.container, site.index)


remove_element = remove_pair


def remove_pair_at(document: JsonDocument, offset: int) -> Edits:
    """Removes the pair whose key begins at ``offset``: the way to reach one of several equal keys."""
    container = document.container_at(offset)
    if container is None or offset - container.start not in container.starts:
        return ()
    return _remove(document.text, container, container.starts.index(offset - container.start))


def move_pair(document: JsonDocument, pointer: str, target: str, new_key: str | None = None) -> Edits:
    """Moves a pair into the object at ``target`` (made where absent or null) at its end; its value keeps its spelling."""
    site = _site(document, pointer)
    source = document.value_span(pointer)
    if site is None or source is None or site.container.kind != "object" or f"{target}/".startswith(f"{pointer}/"):
        return ()
    key = new_key if new_key is not None else split_pointer(pointer)[-1]
    raw = Raw(document.text[source[0] : source[1]], line_indent(document.text, source[0]))
    container = document.container(target)
    if container is not None and container.kind == "object":
        if container.start == site.container.start:
            return rename_key(document, pointer, key)
        inserted = _insert(document, container, len(container.members), json.dumps(key, ensure_ascii=False), raw)
    elif document.value_span(target) is not None:
        inserted = replace_value(document, target, {key: raw}) if document.spelled(target) == "null" else ()
    else:
        inserted = _make_parent(document, target, {key: raw}, site)
    if not inserted:
        return ()
    return merged((*inserted, *_remove(document.text, site.container, site.index)))


def merged(edits: Sequence[TextEdit]) -> Edits:
    """Edits in order of place, those that touch made one."""
    result: list[TextEdit] = []
    for edit in sorted(edits, key=lambda edit: edit.span):
        if result and edit.span[0] <= result[-1].span[1]:
            last = result.pop()
            edit = TextEdit((last.span[0], max(edit.span[1], last.span[1])), last.text + edit.text)
        result.append(edit)
    return tuple(result)
