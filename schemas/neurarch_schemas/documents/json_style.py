"""How a JSON file is laid out, and values written in that layout."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

from neurarch_schemas.documents.json_document import Container, JsonDocument
from neurarch_schemas.documents.layout import line_start
from neurarch_schemas.documents.spelling import JSON, Spelling

PYTHON_UNIT = "    "
_LINE_BREAK = re.compile(r"\r\n|\n|\r")
_BLANK = re.compile(r"[ \t]*")


class Raw(NamedTuple):
    """A value already spelled, as it stood on a line with this indentation."""

    text: str
    indent: str


Renderable: TypeAlias = bool | int | float | str | Raw | Sequence["Renderable"] | Mapping[str, "Renderable"] | None


class Style(NamedTuple):
    """``indent`` is that of the line a value begins on, ``unit`` one step more; ``inline`` keeps all in one line.

    ``colon`` and ``comma`` are what stands between key and value, and between two members of one line.
    """

    newline: str = "\n"
    indent: str = ""
    unit: str = "  "
    inline: bool = False
    colon: str = ": "
    comma: str = ", "
    spelling: Spelling = JSON

    def deeper(self) -> Style:
        return self._replace(indent=self.indent + self.unit)


def document_style(document: JsonDocument) -> Style:
    """The layout of the outermost object or list; the usual one (two spaces, one pair a line) where there is none."""
    root = document.container("")
    newline = first_line_break(document.text)
    if root is None:
        return Style(newline)
    indent = line_indent(document.text, root.start)
    if root.members:
        return _style_of(document, root, 0, newline, indent)
    if is_call(document, root):
        return Style(newline, indent, PYTHON_UNIT, True, "=", ", ", document.spelling)
    return Style(newline, indent, spelling=document.spelling)


def member_style(document: JsonDocument, container: Container, index: int) -> Style:
    """The layout around a member of ``container``: of a neighbour, if ``index`` is one too far."""
    text = document.text
    index = min(index, len(container.members) - 1)
    style = document_style(document)
    own = _style_of(document, container, index, style.newline, line_indent(text, container.start))
    if own.inline:
        own = own._replace(unit=style.unit)
    return own._replace(indent=line_indent(text, container.start + container.starts[index]))


def is_call(document: JsonDocument, container: Container) -> bool:
    """The members are arguments of a call, not pairs."""
    return container.kind == "object" and document.text[document.opening(container)] == "("


def _style_of(document: JsonDocument, container: Container, index: int, newline: str, indent: str) -> Style:
    text = document.text
    start = container.start + container.starts[index]
    own_line = is_on_own_line(text, start)
    unit = PYTHON_UNIT if document.spelling.python else "  "
    if own_line:
        column = line_indent(text, start)
        if column.startswith(indent) and len(column) > len(indent):
            unit = column[len(indent) :]
        elif "\t" in column:
            unit = "\t"
    sign, usual = ("=", "=") if is_call(document, container) else (":", ": ")
    colon = usual
    for member, member_start in zip(container.members[index : index + 4], container.starts[index:], strict=False):
        if member.key is not None and member.key_length and member.value_length >= 0:
            begin = container.start + member_start
            colon = text[begin + member.key_length : begin + member.value_start]
            break
    if colon.strip() != sign or "\n" in colon or "\r" in colon:
        colon = usual
    comma = ", " if sign == "=" or colon.endswith(" ") else ","
    for at in range(max(index - 1, 0), min(index + 2, len(container.members) - 1)):
        gap = text[
            container.start + container.starts[at] + container.members[at].length : container.start
            + container.starts[at + 1]
        ]
        if gap.strip(" \t") == "," and not own_line:
            comma = gap
            break
    return Style(newline, indent, unit, not own_line, colon, comma, document.spelling)


def render(value: Renderable, style: Style) -> str:
    """JSON text of ``value``; it begins on a line with the indentation ``style.indent``."""
    if isinstance(value, Raw):
        return _moved(value, style)
    if isinstance(value, Mapping):
        inner = style.deeper()
        # Inside a value there are dicts, whatever the value is an argument of.
        colon = style.colon if ":" in style.colon else ": "
        parts = [f"{style.spelling.string(str(key))}{colon}{render(item, inner)}" for key, item in value.items()]
        return _bracketed("{", parts, "}", style)
    if isinstance(value, str):
        return style.spelling.string(value)
    if isinstance(value, Sequence):
        inner = style.deeper()
        return _bracketed("[", [render(item, inner) for item in value], "]", style)
    return style.spelling.scalar(value)


def _bracketed(opener: str, parts: list[str], closer: str, style: Style) -> str:
    if not parts:
        return opener + closer
    if style.inline:
        return opener + style.comma.join(parts) + closer
    line = style.newline + style.indent + style.unit
    return f"{opener}{line}{(',' + line).join(parts)}{style.newline}{style.indent}{closer}"


def _moved(raw: Raw, style: Style) -> str:
    """The text with the indentation of its further lines changed as its first line's."""
    lines = _LINE_BREAK.split(raw.text)
    moved = [line.removeprefix(raw.indent) if line.startswith(raw.indent) else line for line in lines[1:]]
    return style.newline.join([lines[0], *(style.indent + line for line in moved)])


def first_line_break(text: str) -> str:
    found = _LINE_BREAK.search(text)
    return "\n" if found is None else found.group()


def line_indent(text: str, offset: int) -> str:
    """The white space at the beginning of the line of ``offset``."""
    start = line_start(text, offset)
    blank = _BLANK.match(text, start, offset)
    return "" if blank is None else blank.group()


def is_on_own_line(text: str, offset: int) -> bool:
    """Nothing but white space stands before ``offset`` on its line, which is not the first one."""
    start = line_start(text, offset)
    return start > 0 and not text[start:offset].strip(" \t")
