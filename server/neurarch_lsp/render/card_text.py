"""A card for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from neurarch_lsp.render.card_blocks import Bars, Block, Card, Facts, Figure, Labels, Note, Plot, Table

WIDTH = 110
WIDEST = 160
"""Columns beyond which a table is printed row by row."""
SPARKS = "▁▂▃▄▅▆▇█"


def card_text(card: Card) -> str:
    lines = [card.title, card.subtitle]
    for section in card.sections:
        lines += ["", section.title, "-" * len(section.title)]
        for block in section.blocks:
            lines += list(_lines(block))
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _lines(block: Block) -> Iterator[str]:
    if isinstance(block, Note):
        yield from textwrap.wrap(block.text, WIDTH)
    elif isinstance(block, Facts):
        width = max((len(label) for label, _ in block.rows), default=0)
        for label, value in block.rows:
            yield from textwrap.wrap(
                value, WIDTH, initial_indent=f"{label:<{width}}  ", subsequent_indent=" " * (width + 2)
            )
    elif isinstance(block, Table):
        yield from _table(block)
    elif isinstance(block, Bars):
        width = max((len(label) for label, _, _ in block.rows), default=0)
        for label, amount, share in block.rows:
            yield f"{label:<{width}}  {'█' * round(share * 30) or '·':<30}  {amount}"
    elif isinstance(block, Labels):
        for label, sentence, _ in block.rows:
            yield from textwrap.wrap(f"{label}: {sentence}", WIDTH, initial_indent="* ", subsequent_indent="  ")
    elif isinstance(block, Plot):
        yield f"{sparkline([y for _, y in block.points])}  {block.title}, to {block.x_ticks[-1][1]} {block.x_label}"
    elif isinstance(block, Figure):
        yield from textwrap.wrap(block.text, WIDTH)


def _table(table: Table) -> Iterator[str]:
    if table.caption:
        yield table.caption
    rows = [table.header, *table.rows]
    if sum(max(len(row[column]) for row in rows) + 2 for column in range(len(table.header))) > WIDEST:
        yield from _stacked(table)
        return
    widths = [max(len(row[column]) for row in rows) for column in range(len(table.header))]
    for row in rows:
        cells = [
            f"{cell:>{width}}" if column in table.numeric else f"{cell:<{width}}"
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells)


def _stacked(table: Table) -> Iterator[str]:
    """A table too wide for a terminal: each row as a paragraph."""
    for row in table.rows:
        *first, last = [cell for cell in row if cell]
        yield from textwrap.wrap("  ".join([*first, last]), WIDTH, initial_indent="* ", subsequent_indent="  ")


def sparkline(values: list[float], width: int = 32) -> str:
    top = max(values, default=0.0) or 1.0
    chosen = [values[index * (len(values) - 1) // (width - 1)] for index in range(width)] if values else []
    return "".join(SPARKS[min(7, int(value / top * 7.999))] for value in chosen)
