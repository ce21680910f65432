"""Blocks of a hover, rendered as Markdown or as plain text."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

_EMPHASIS = re.compile(r"\*\*|(?<!\\)`")
_LINK = re.compile(r"\[([^\]]+)\]\(([^)]+)\)")
_ESCAPED = re.compile(r"\\([\\`*_\[\]<>|])")
_INLINE = re.compile(r"(\*\*.+?\*\*|`+ ?[^`]+ ?`+|\[[^\]]+\]\([^)]+\))")
_SPECIAL = re.compile(r"([\\`*_\[\]<>|])")


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph; may hold ``**bold**``, `` `code` `` and links."""

    text: str


@dataclass(frozen=True, slots=True)
class Table:
    """``marked`` is the row that stands for the present state."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    marked: int | None = None


@dataclass(frozen=True, slots=True)
class Heading:
    text: str


_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>
body {{ font-family: var(--vscode-font-family, system-ui, sans-serif); color: var(--vscode-foreground, #222);
        background: var(--vscode-editor-background, #fff); margin: 1.2rem; line-height: 1.45; }}
h2 {{ font-size: 1.05rem; margin: 1.6rem 0 .5rem; }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; }}
th, td {{ text-align: right; padding: .2rem .8rem .2rem 0; border-bottom: 1px solid var(--vscode-panel-border, #ddd); }}
th:first-child, td:first-child {{ text-align: left; }}
.present {{ font-weight: 600; }}
code {{ font-family: var(--vscode-editor-font-family, monospace); }}
ul {{ padding-left: 1.1rem; }}
</style></head><body>
{body}
</body></html>
"""

Block: TypeAlias = Text | Table | Heading


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


def to_html(blocks: Iterable[Block], title: str) -> str:
    """A page without scripts or outside resources; colours are those of the editor around it, where there is one."""
    body = "\n".join(_html(block) for block in blocks)
    return _PAGE.format(title=html.escape(title), body=body)


def _html(block: Block) -> str:
    if isinstance(block, Heading):
        return f"<h2>{_inline_html(block.text)}</h2>"
    if isinstance(block, Text):
        lines = block.text.split("\n")
        if all(line.startswith("- ") for line in lines):
            return "<ul>" + "".join(f"<li>{_inline_html(line[2:])}</li>" for line in lines) + "</ul>"
        return f"<p>{_inline_html(block.text)}</p>"
    head = "".join(f"<th>{_inline_html(cell)}</th>" for cell in block.header)
    rows = "".join(
        ("<tr class='present'>" if number == block.marked else "<tr>")
        + "".join(f"<td>{_inline_html(cell)}</td>" for cell in row)
        + "</tr>"
        for number, row in enumerate(block.rows)
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _inline_html(text: str) -> str:
    """Inline Markdown of our own making to HTML; everything else is escaped."""
    pieces: list[str] = []
    for part in _INLINE.split(text):
        if part.startswith("**") and part.endswith("**") and len(part) > 4:
            pieces.append(f"<b>{_inline_html(part[2:-2])}</b>")
        elif part.startswith("`") and part.endswith("`") and len(part) > 2:
            pieces.append(f"<code>{html.escape(part.strip('`'))}</code>")
        elif link := _LINK.fullmatch(part):
            pieces.append(f'<a href="{html.escape(link[2])}">{html.escape(link[1])}</a>')
        else:
            pieces.append(html.escape(_ESCAPED.sub(r"\1", part)))
    return "".join(pieces)


def _markdown(block: Block) -> str:
    if isinstance(block, Heading):
        return f"## {block.text}"
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
    if isinstance(block, Heading):
        return _without_markup(block.text) + "\n" + "-" * len(_without_markup(block.text))
    if isinstance(block, Text):
        return _without_markup(block.text)
    rows = [[_without_markup(cell) for cell in row] for row in (block.header, *block.rows)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for number, row in enumerate(rows):
        mark = "> " if block.marked is not None and number == block.marked + 1 else "  "
        lines.append((mark + "  ".join(_padded(row, widths))).rstrip())
    return "\n".join(lines)


def _without_markup(text: str) -> str:
    text = _LINK.sub(lambda match: f"{match[1]} ({match[2]})" if match[1] != match[2] else match[1], text)
    return _ESCAPED.sub(r"\1", _EMPHASIS.sub("", text))
