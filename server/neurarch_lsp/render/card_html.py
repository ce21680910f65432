"""A card as one self-contained HTML page: no scripts, no requests; light and dark; prints on paper."""

from __future__ import annotations

import os
from functools import cache
from html import escape

from neurarch_lsp.render.card_blocks import Bars, Block, Card, Facts, Figure, Labels, Note, Plot, Section, Table


@cache
def style() -> str:
    with open(os.path.join(os.path.dirname(__file__), "card.css"), encoding="utf-8") as stream:
        return stream.read()


def card_html(card: Card) -> str:
    links = "".join(f'<a href="#{section.key}">{escape(section.title)}</a>' for section in card.sections)
    body = "".join(_section(section) for section in card.sections)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(card.title)}</title><style>{style()}</style></head><body>"
        f'<header><h1>{escape(card.title)}</h1><p class="subtitle">{escape(card.subtitle)}</p></header>'
        f'<nav aria-label="Sections">{links}</nav><main>{body}</main></body></html>\n'
    )


def card_svg(card: Card) -> str:
    """The figure of the structure alone; an empty drawing where there is none."""
    figures = [block.svg for section in card.sections for block in section.blocks if isinstance(block, Figure)]
    return (figures[0] if figures else '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"/>') + "\n"


def _section(section: Section) -> str:
    blocks = "".join(_block(block) for block in section.blocks)
    return f'<section id="{section.key}"><h2>{escape(section.title)}</h2>{blocks}</section>'


def _block(block: Block) -> str:
    if isinstance(block, Note):
        return f'<p class="{block.tone}">{escape(block.text)}</p>'
    if isinstance(block, Facts):
        return (
            "<dl>"
            + "".join(f"<dt>{escape(label)}</dt><dd>{escape(value)}</dd>" for label, value in block.rows)
            + "</dl>"
        )
    if isinstance(block, Table):
        return _table(block)
    if isinstance(block, Bars):
        return "".join(_bar(*row) for row in block.rows)
    if isinstance(block, Labels):
        items = "".join(
            f'<li><strong>{escape(label)}</strong>: {escape(text)} <span class="source">{escape(source)}</span></li>'
            for label, text, source in block.rows
        )
        return f'<ul class="labels">{items}</ul>'
    if isinstance(block, Plot):
        return plot(block)
    assert isinstance(block, Figure)
    return f"<figure>{block.svg}</figure>"


def _table(table: Table) -> str:
    def cells(row: tuple[str, ...], tag: str) -> str:
        scope = ' scope="col"' if tag == "th" else ""
        number = ' class="n"'
        return "".join(
            f"<{tag}{scope}{number if column in table.numeric else ''}>{escape(cell)}</{tag}>"
            for column, cell in enumerate(row)
        )

    caption = f"<caption>{escape(table.caption)}</caption>" if table.caption else ""
    rows = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in table.rows)
    return (
        f'<div class="scroll" tabindex="0"><table>{caption}<thead><tr>{cells(table.header, "th")}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _bar(label: str, amount: str, share: float) -> str:
    return (
        f'<div class="bar"><span>{escape(label)}</span><i style="width:{100 * share:.2f}%"></i>'
        f'<span class="amount">{escape(amount)}</span></div>'
    )


def plot(block: Plot, width: int = 560, height: int = 220) -> str:
    """An SVG line with labelled axes; both start at zero."""
    left, bottom, top, right = 70, 34, 12, 16
    most_x = max((x for x, _ in block.points), default=1) or 1
    most_y = max((y for _, y in block.points), default=1) or 1

    def at(x: float, y: float) -> tuple[float, float]:
        return (
            left + x / most_x * (width - left - right),
            height - bottom - y / most_y * (height - bottom - top),
        )

    line = " ".join(
        f"{'M' if not i else 'L'}{x:.1f} {y:.1f}" for i, (x, y) in enumerate(at(*point) for point in block.points)
    )
    ticks = "".join(
        f'<text x="{at(x, 0)[0]:.1f}" y="{height - bottom + 16}" text-anchor="middle">{escape(label)}</text>'
        for x, label in block.x_ticks
    )
    ticks += "".join(
        f'<text x="{left - 6}" y="{at(0, y)[1] + 4:.1f}" text-anchor="end">{escape(label)}</text>'
        for y, label in block.y_ticks
    )
    axis = f'<path class="axis" d="M{left} {top}V{height - bottom}H{width - right}"/>'
    return (
        f'<figure><svg class="plot" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{escape(block.title, quote=True)}">{axis}<path d="{line}"/>{ticks}'
        f'<text x="{(left + width) / 2}" y="{height - 4}" text-anchor="middle">{escape(block.x_label)}</text>'
        "</svg></figure>"
    )
