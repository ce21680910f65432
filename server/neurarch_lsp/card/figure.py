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
        in_layer = items[0].group is not None
        top = y
        y += GAP if in_layer else 0
        for row in reversed(items):
            names.append(row.type)
            y = _draw(shapes, row, y)
        if in_layer:
            y += GAP - 6
            shapes.insert(0, _frame(top, y - top))
            label = _label(items[0])
            shapes.append(_text(WIDTH + 8, (top + y) / 2 + 4, label, "start", "repeat"))
            y += GAP
    height = y + MARGIN
    title = "Structure: " + ", ".join(reversed(names[:12])) + ("" if len(names) <= 12 else ", ...")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH + 90} {height:.0f}" role="img" '
        f'aria-label="{escape(title, quote=True)}" class="structure" '
        'font-family="system-ui, sans-serif" font-size="13">'
        "<style>.structure text{fill:var(--text,#1c1e21)}.structure .repeat{font-weight:600}"
        ".structure path,.structure .frame{stroke:var(--line,#6b7280);fill:none}"
        ".structure .box text{fill:#1c1e21}</style>"
        f"{''.join(shapes)}</svg>"
    )


def _label(row: StructureRow) -> str:
    """How often a layer stands there: "x 62", "5 in each of 5 cycles", "layer 0"."""
    if row.times == 1:
        return f"layer {row.index}"
    return f"x {row.times:,}" if row.times == row.repeat or row.repeat == 1 else f"{row.cycles:,} x {row.repeat:,}"


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
    shapes.append(f'<path d="M{middle} {y}v{GAP}"/>' if row.kind != "input" else "")
    return y + GAP


def _frame(y: float, height: float) -> str:
    return (
        f'<rect class="frame" x="20" y="{y}" width="{WIDTH - 40}" height="{height}" rx="12" '
        'style="fill:var(--layer,#f6f7f9)"/>'
    )


def _text(x: float, y: float, text: str, anchor: str = "middle", style: str = "") -> str:
    name = f' class="{style}"' if style else ""
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}"{name}>{escape(text)}</text>'
