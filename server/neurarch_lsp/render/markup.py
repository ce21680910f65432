"""Blocks of a hover, rendered as Markdown or as plain text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from neurarch_schemas.record import Record

_EMPHASIS = re.compile(r"\*\*|(?<!\\)`")
_LINK = re.compile(r"(?<!\\)\[([^\]\\]+)\]\(([^)]+)\)")
_ESCAPED = re.compile(r"\\([\\`*_\[\]<>|])")
_SPECIAL = re.compile(r"([\\`*_\[\]<>|])")


class Text(Record):
    """A paragraph; may hold ``**bold**``, `` `code` `` and links."""

    text: str


class Table(Record):
    """``marked`` is the row that stands for the present state."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    marked: int | None = None


Block: TypeAlias = Text | Table


def code(text: object) -> str:
    """Inline code of any text."""
    written = str(text).replace("\n", " ")
    fence = "``" if "`" in written else "`"
    return f"{fence} {written} {fence}" if fence == "``" else f"`{written}`"


def escape(text: str) -> str:
    """Text of the user's file, so that Markdown shows it as it is."""
    return _SPECIAL.sub(r"\\\1", text)


def to_markdown(blocks: Iterable[Block]) -> str:
    return "\n\n".join(_markdown(block) for block in blocks)


def to_plain(blocks: Iterable[Block]) -> str:
    return "\n\n".join(_plain(block) for block in blocks)


def _markdown(block: Block) -> str:
    if isinstance(block, Text):
        return block.text
    rows = [[f"**{cell}**" for cell in row] if at == block.marked else list(row) for at, row in enumerate(block.rows)]
    # Aligned in the source too: some editors show it as it is, with the marks of bold and code hidden.
    widths = [max(3, *(_seen(row[column]) for row in (block.header, *rows))) for column in range(len(block.header))]
    rule = [":" + "-" * (widths[0] - 1), *("-" * (width - 1) + ":" for width in widths[1:])]
    return "\n".join(_row(_padded(row, widths)) for row in (block.header, rule, *rows))


def _padded(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    """The first column to the left, numbers to the right."""
    gaps = [" " * (width - _seen(cell)) for cell, width in zip(row, widths, strict=True)]
    return [cell + gap if at == 0 else gap + cell for at, (cell, gap) in enumerate(zip(row, gaps, strict=True))]


def _seen(cell: str) -> int:
    return len(_EMPHASIS.sub("", cell))


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _plain(block: Block) -> str:
    if isinstance(block, Text):
        return without_markup(block.text)
    rows = [[without_markup(cell) for cell in row] for row in (block.header, *block.rows)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for number, row in enumerate(rows):
        mark = "> " if block.marked is not None and number == block.marked + 1 else "  "
        lines.append((mark + "  ".join(_padded(row, widths))).rstrip())
    return "\n".join(lines)


def without_markup(text: str) -> str:
    """What a person reads of a paragraph or a cell."""
    text = _LINK.sub(lambda match: f"{match[1]} ({match[2]})" if match[1] != match[2] else match[1], text)
    return _ESCAPED.sub(r"\1", _EMPHASIS.sub("", text))
