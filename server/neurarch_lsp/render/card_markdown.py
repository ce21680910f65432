"""A card as Markdown."""

from __future__ import annotations

from neurarch_lsp.render.card_blocks import Bars, Block, Card, Facts, Figure, Labels, Note, Plot, Table
from neurarch_lsp.render.card_text import sparkline
from neurarch_lsp.render.markup import code, escape


def card_markdown(card: Card) -> str:
    pieces = [f"# {escape(card.title)}", escape(card.subtitle)]
    for section in card.sections:
        pieces.append(f"## {section.title}")
        pieces += [_block(block) for block in section.blocks]
    return "\n\n".join(piece for piece in pieces if piece) + "\n"


def _block(block: Block) -> str:
    if isinstance(block, Note):
        return escape(block.text)
    if isinstance(block, Facts):
        return _table(("", ""), block.rows, frozenset())
    if isinstance(block, Table):
        caption = f"{escape(block.caption)}\n\n" if block.caption else ""
        return caption + _table(block.header, block.rows, block.numeric)
    if isinstance(block, Bars):
        rows = tuple((label, amount) for label, amount, _ in block.rows)
        return _table(("part", "parameters"), rows, frozenset())
    if isinstance(block, Labels):
        return "\n".join(
            f"- **{escape(label)}**: {escape(text)} ({escape(source)})" for label, text, source in block.rows
        )
    if isinstance(block, Plot):
        return (
            f"{code(sparkline([y for _, y in block.points]))} {block.title}, to {block.x_ticks[-1][1]} {block.x_label}"
        )
    assert isinstance(block, Figure)
    return escape(block.text)


def _table(header: tuple[str, ...], rows: tuple[tuple[str, ...], ...], numeric: frozenset[int]) -> str:
    ruler = "|" + "|".join("--:" if column in numeric else ":--" for column in range(len(header))) + "|"
    return "\n".join([_row(header), ruler, *map(_row, rows)])


def _row(cells: tuple[str, ...]) -> str:
    return "| " + " | ".join(escape(cell).replace("\n", " ") for cell in cells) + " |"
