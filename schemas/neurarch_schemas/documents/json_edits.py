"""Minimal text edits which keep a JSON file's formatting: indentation, newline style, inline or one pair a line.

Every function gives edits in the document's own coordinates which do not overlap. Where the place cannot be found, or
is too damaged to be edited safely, the result is empty.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from neurarch_schemas.documents.document import TextEdit
from neurarch_schemas.documents.json_document import Container, JsonDocument
from neurarch_schemas.documents.json_style import (
    Raw,
    Renderable,
    document_style,
    is_call,
    is_on_own_line,
    line_indent,
    member_style,
    render,
)
from neurarch_schemas.documents.json_value import JSONValue
from neurarch_schemas.documents.layout import line_start
from neurarch_schemas.documents.pointer import join_pointer, parent_pointer, split_pointer

Edits = tuple[TextEdit, ...]

CLOSERS = ("}", "]", ")")
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
    span, container = document.key_span(pointer), document.container(parent_pointer(pointer))
    if span is None or container is None:
        return ()
    return (TextEdit(span, _key(document, container, new_key)),)


def replace_value(document: JsonDocument, pointer: str, value: JSONValue) -> Edits:
    """Writes another value at a pointer that has one."""
    return _replace(document, pointer, value)


def _replace(document: JsonDocument, pointer: str, value: Renderable) -> Edits:
    span = document.value_span(pointer)
    if span is None:
        return ()
    site = _site(document, pointer)
    style = document_style(document) if site is None else member_style(document, site.container, site.member)
    old = document.text[span[0] : span[1]]
    if old[0] in "[{" and len(old) > 2 and "\n" not in old and "\r" not in old:
        style = style._replace(inline=True)
    return (TextEdit(span, render(value, style)),)


def set_value(document: JsonDocument, pointer: str, value: JSONValue, after: str | None = None) -> Edits:
    """Replaces the value, or inserts the pair; objects on the way which are absent (or null) are made."""
    return _set(document, pointer, value, after)


def _set(document: JsonDocument, pointer: str, value: Renderable, after: str | None = None) -> Edits:
    if document.value_span(pointer) is not None:
        return _replace(document, pointer, value)
    if document.key_span(pointer) is not None:
        return ()
    keys = split_pointer(pointer)
    for count in range(len(keys) - 1, -1, -1):
        parent = join_pointer("", *keys[:count])
        if document.value_span(parent) is None:
            continue
        for key in reversed(keys[count + 1 :]):
            value = {key: value}
        container = document.container(parent)
        if container is None:
            null = document.spelling.scalar(None)
            return _replace(document, parent, {keys[count]: value}) if document.spelled(parent) == null else ()
        if container.kind != "object" or container.index_of(keys[count]) is not None:
            return ()
        anchor = container.index_of(after) if after is not None and count == len(keys) - 1 else None
        index = len(container.members) if anchor is None else anchor + 1
        return _insert(document, container, index, _key(document, container, keys[count]), value)
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
    return _insert(document, container, index, _key(document, container, key), value)


def insert_element(document: JsonDocument, pointer: str, index: int, value: JSONValue) -> Edits:
    """A new element of the list at ``pointer``, which then has this index (at most: the end of the list)."""
    container = document.container(pointer)
    if container is None or container.kind != "array":
        return ()
    return _insert(document, container, min(max(index, 0), len(container.members)), None, value)


def remove_pair(document: JsonDocument, pointer: str) -> Edits:
    """Removes a pair or an element together with its comma, and its line where it has one to itself."""
    site = _site(document, pointer)
    return () if site is None else _remove(document, site.container, site.member)


def truncate(document: JsonDocument, pointer: str, length: int) -> Edits:
    """Removes the elements of the list at ``pointer`` from index ``length`` (at least 1) on."""
    container = document.container(pointer)
    if container is None or container.kind != "array" or not 0 < length < len(container.members):
        return ()
    text, members, starts = document.text, container.members, container.starts
    kept = container.start + starts[length - 1] + members[length - 1].length
    start, end = container.start + starts[length], container.start + starts[-1] + members[-1].length
    between = text[kept:start]
    if not between.strip(" \t\n\r,"):
        return (TextEdit((kept, end), ""),)
    # A comment behind the last element that stays stays too.
    comma = len(between) - len(between.lstrip())
    if not between.startswith(",", comma):
        return ()
    return (TextEdit((kept + comma, kept + comma + 1), ""), TextEdit((start, end), ""))


def remove_pair_at(document: JsonDocument, offset: int) -> Edits:
    """Removes the pair whose key begins at ``offset``: the way to reach one of several equal keys."""
    container = document.container_at(offset)
    if container is None or offset - container.start not in container.starts:
        return ()
    return _remove(document, container, container.starts.index(offset - container.start))


def move_pair(document: JsonDocument, pointer: str, target: str, new_key: str | None = None) -> Edits:
    """Moves a pair to the end of the object at ``target`` (made where absent or null); its value keeps its spelling."""
    site = _site(document, pointer)
    source = document.value_span(pointer)
    if site is None or source is None or site.container.kind != "object" or f"{target}/".startswith(f"{pointer}/"):
        return ()
    key = new_key if new_key is not None else split_pointer(pointer)[-1]
    container = document.container(target)
    if container is not None and container.start == site.container.start:
        return rename_key(document, pointer, key)
    raw = Raw(document.text[source[0] : source[1]], line_indent(document.text, source[0]))
    inserted = _set(document, join_pointer(target, key), raw)
    if not inserted or document.value_span(join_pointer(target, key)) is not None:
        return ()
    return merged((*inserted, *_remove(document, site.container, site.member)))


def merged(edits: Sequence[TextEdit]) -> Edits:
    """Edits in order of place, those that touch made one."""
    result: list[TextEdit] = []
    for edit in sorted(edits, key=lambda edit: edit.span):
        if result and edit.span[0] <= result[-1].span[1]:
            last = result.pop()
            edit = TextEdit((last.span[0], max(edit.span[1], last.span[1])), last.text + edit.text)
        result.append(edit)
    return tuple(result)


def _key(document: JsonDocument, container: Container, name: str) -> str:
    return document.spelling.key(name, is_call(document, container))


class _Site(NamedTuple):
    container: Container
    member: int


def _site(document: JsonDocument, pointer: str) -> _Site | None:
    """The container that holds a member, and the member's index; None for the document itself."""
    if not pointer:
        return None
    container = document.container(parent_pointer(pointer))
    index = None if container is None else container.index_of(split_pointer(pointer)[-1])
    return None if container is None or index is None else _Site(container, index)


def _insert(document: JsonDocument, container: Container, index: int, key: str | None, value: Renderable) -> Edits:
    text = document.text
    if text[container.end - 1 : container.end] not in CLOSERS:
        return ()
    if not container.members:
        return _insert_first(document, container, key, value)
    style = member_style(document, container, index - 1 if index else 0)
    member = render(value, style) if key is None else key + style.colon + render(value, style)
    line = style.newline + style.indent
    if index == 0:
        at = container.start + container.starts[0]
        return (TextEdit((at, at), f"{member}{style.comma if style.inline else ',' + line}"),)
    anchor = container.members[index - 1]
    at = container.start + container.starts[index - 1] + anchor.length
    if anchor.value_length < 0:
        return ()
    if style.inline:
        return (TextEdit((at, at), style.comma + member),)
    gap = _GAP.match(text, at)
    if gap is None or not gap[2]:
        return (TextEdit((at, at), f",{line}{member}"),)
    # A comment on the anchor's line stays there.
    if gap[1]:
        return (TextEdit((gap.end(2), gap.end(2)), f"{line}{member}{',' if gap[1] else ''}"),)
    return (TextEdit((at, at), ","), TextEdit((gap.end(2), gap.end(2)), line + member))


def _insert_first(document: JsonDocument, container: Container, key: str | None, value: Renderable) -> Edits:
    text = document.text
    style = document_style(document)
    begin, end = document.opening(container) + 1, container.end - 1
    inner = text[begin:end]
    base = line_indent(text, container.start)
    style = style._replace(indent=base + style.unit)
    if style.inline and not ("\n" in inner or "\r" in inner):
        member = render(value, style) if key is None else key + style.colon + render(value, style)
        return (TextEdit((begin, begin if inner.strip() else end), member),)
    style = style._replace(inline=False)
    member = render(value, style) if key is None else key + style.colon + render(value, style)
    line = style.newline + style.indent
    if inner.strip():
        return (TextEdit((begin, begin), line + member),)
    return (TextEdit((begin, end), line + member + style.newline + base),)


def _remove(document: JsonDocument, container: Container, index: int) -> Edits:
    text = document.text
    members, starts = container.members, container.starts
    start = container.start + starts[index]
    end = start + members[index].length
    if members[index].key is not None and members[index].value_length < 0:
        # The colon of a pair without a value goes with it.
        colon = re.compile(r"[ \t]*:").match(text, end)
        end = end if colon is None else colon.end()
    last = index == len(members) - 1
    own_line = is_on_own_line(text, start)
    gap = _GAP.match(text, end)
    before = (
        container.start + starts[index - 1] + members[index - 1].length if index else document.opening(container) + 1
    )
    if last and index == 0:
        inner = text[before : container.end - 1]
        alone = inner[: start - before] + inner[end - before :]
        if not alone.strip(" \t\n\r,") and text[container.end - 1] in CLOSERS:
            return (TextEdit((before, container.end - 1), ""),)
    if not last:
        following = container.start + starts[index + 1]
        if own_line and gap is not None and gap[1]:
            return (TextEdit((line_start(text, start), _next_line(text, gap.end())), ""),)
        return (TextEdit((start, following), ""),)
    if index and not text[before:start].strip(" \t\n\r,"):
        return (TextEdit((before, end), ""),)
    edits = [TextEdit((start, end), "")]
    if own_line and gap is not None:
        edits = [TextEdit((line_start(text, start), _next_line(text, gap.end())), "")]
    comma = text.find(",", before, start) if index else -1
    if comma >= 0 and not text[before:comma].strip():
        edits.insert(0, TextEdit((comma, comma + 1), ""))
    return tuple(edits)


def _next_line(text: str, at: int) -> int:
    return at + 2 if text.startswith("\r\n", at) else min(at + 1, len(text))
