"""The block structure as papers draw it: bottom to top, equal layers in one box with a repeat count."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from neurarch_lsp.card.layer_order import StructureRow

WIDTH = 300
BOX = 34
GAP = 14
MARGIN = 24
MOST_GROUPS = 6
MOST_NAMED = 12
FILLS = {
    "attention": "var(--attention, #f5c98a)",
    "mixer": "var(--mixer, #f2b8a0)",
    "experts": "var(--experts, #a9cdf2)",
    "feed-forward": "var(--feed-forward, #b9dcf5)",
    "norm": "var(--norm, #eef0c2)",
    "embedding": "var(--embedding, #f3c6d3)",
    "head": "var(--head, #d7c9ee)",
    "position": "var(--position, #d9ead3)",
}


def figure(rows: Sequence[StructureRow]) -> str:
    """Drawn from the folded rows; more than six runs of layers are cut to the first five and the last."""
    groups = [list(items) for _, items in groupby(rows, key=lambda row: (row.group, row.index))]
    layered = [index for index, items in enumerate(groups) if items[0].group is not None]
    dropped = set(layered[MOST_GROUPS - 1 : -1]) if len(layered) > MOST_GROUPS else set()
    shapes: list[str] = []
    y = float(MARGIN)
    names: list[str] = []
    for index in range(len(groups) - 1, -1, -1):
        if index in dropped:
            if index + 1 not in dropped:
                shapes.append(_text(WIDTH / 2, y + 14, f"{len(dropped)} further runs of layers"))
                y += 30
            continue
        items = groups[index]
        names += [row.type for row in reversed(items)]
        if items[0].group is None:
            y = _draw_rows(shapes, items, y)
            continue
        top = y
        y = _draw_rows(shapes, items, _line(shapes, y, GAP))
        shapes.insert(0, _frame(top, y - top))
        siblings = [each[0] for each in groups if each[0].group == items[0].group]
        shapes.append(_text(WIDTH + 8, (top + y) / 2 + 4, _label(items[0], siblings), "start", "repeat"))
        y = _line(shapes, y, GAP)
    height = y + MARGIN
    title = "Structure: " + ", ".join(names[: -MOST_NAMED - 1 : -1]) + ("" if len(names) <= MOST_NAMED else ", ...")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH + 130} {height:.0f}" role="img" '
        f'aria-label="{escape(title, quote=True)}" class="structure" '
        'font-family="system-ui, sans-serif" font-size="13">'
        "<style>.structure text{fill:var(--text,#1c1e21)}.structure .repeat{font-weight:600}"
        ".structure path,.structure .frame{stroke:var(--line,#6b7280);fill:none}"
        ".structure .box text{fill:#1c1e21}</style>"
        f"{''.join(shapes)}</svg>"
    )


def _label(row: StructureRow, siblings: Sequence[StructureRow]) -> str:
    """How often a layer stands there: "x 62", or its share of a cycle: "5 of 6, x 5"."""
    if row.times == 1:
        return f"layer {row.index}"
    if len(siblings) == 1:
        return f"x {row.times:,}"
    return f"{row.repeat:,} of {sum(each.repeat for each in siblings):,}, x {row.cycles:,}"


def _draw_rows(shapes: list[str], rows: Sequence[StructureRow], y: float) -> float:
    """Rows from the last to the first, each addition joined to where its branch left the residual stream.

    Behind a last norm the stream branches above the norm of the block before, else below the block's own.
    """
    after = bool(rows) and rows[-1].kind == "norm"
    joined: float | None = None
    blocks = 0
    for row in reversed(rows):
        leaves = row.kind == "add" or (after and row.kind == "norm" and blocks)
        if joined is not None and leaves:
            shapes.append(_branch(joined, y - GAP / 2))
            joined = None
        if row.kind == "add":
            joined, blocks = y + 10, 0
        blocks += row.kind not in ("add", "norm")
        y = _draw(shapes, row, y)
    if joined is not None:
        shapes.append(_branch(joined, y - GAP / 2))
    return y


def _branch(joins: float, leaves: float) -> str:
    """The residual connection: from the stream around a block to its addition."""
    middle, side, corner = WIDTH / 2, 30, 6
    up = f"Q{side} {leaves} {side} {leaves - corner}V{joins + corner}"
    back = f"Q{side} {joins} {side + corner} {joins}H{middle - 9}"
    return f'<path d="M{middle} {leaves}H{side + corner}{up}{back}"/>'


def _line(shapes: list[str], y: float, length: float) -> float:
    shapes.append(f'<path d="M{WIDTH / 2} {y}v{length}"/>')
    return y + length


def _draw(shapes: list[str], row: StructureRow, y: float) -> float:
    """One box (a circle for a residual addition) and the line to the next one; returns the next free position."""
    middle = WIDTH / 2
    if row.kind == "add":
        shapes.append(
            f'<circle cx="{middle}" cy="{y + 10}" r="9" fill="var(--paper,#fff)" stroke="var(--line,#6b7280)"/>'
            f'<path d="M{middle - 5} {y + 10}h10M{middle} {y + 5}v10"/>'
        )
        y += 20
    elif row.kind in ("input", "output"):
        shapes.append(_text(middle, y + 14, row.type))
        y += 20
    else:
        fill = FILLS.get(row.kind, "var(--block, #e3e5e8)")
        shapes.append(
            f'<g class="box"><rect x="40" y="{y}" width="{WIDTH - 80}" height="{BOX}" rx="7" fill="{fill}" '
            f'stroke="var(--line,#6b7280)"/>{_text(middle, y + 22, row.type)}</g>'
        )
        y += BOX
    return y + GAP if row.kind == "input" else _line(shapes, y, GAP)


def _frame(y: float, height: float) -> str:
    return (
        f'<rect class="frame" x="20" y="{y}" width="{WIDTH - 40}" height="{height}" rx="12" '
        'style="fill:var(--layer,#f6f7f9)"/>'
    )


def _text(x: float, y: float, text: str, anchor: str = "middle", style: str = "") -> str:
    name = f' class="{style}"' if style else ""
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}"{name}>{escape(text)}</text>'
