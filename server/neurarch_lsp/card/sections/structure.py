"""Number, name, type, output shape, parameters and cache of each block; and whether it will forward."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neurarch_lsp.card.figure import figure
from neurarch_lsp.card.structure import StructureRow, rows
from neurarch_lsp.render.card_blocks import Block, Figure, Note, Section, Table
from neurarch_schemas.accounting.context import declared_context
from neurarch_schemas.accounting.dtypes import size_in_bytes
from neurarch_schemas.accounting.forward import disagreements
from neurarch_schemas.accounting.quantities import binary_bytes

if TYPE_CHECKING:
    from neurarch_lsp.card.assumptions import Assumptions
    from neurarch_schemas.analysis import Analysis

FALLBACK_LENGTH = 8192


def section(analysis: Analysis, assumed: Assumptions) -> Section | None:
    tree, config = analysis.built.tree, analysis.config
    if tree is None or config is None:
        return None
    found = rows(analysis, expand=assumed.expand)
    length = assumed.context or declared_context(config) or FALLBACK_LENGTH
    dtype = analysis.cache_dtype(assumed.cache_dtype)
    shapes = output_shapes(found, assumed.batch, length)
    table = Table(
        ("no.", "name", "type", "output", "parameters", "cache/token", "times"),
        tuple(
            (
                str(number),
                row.name,
                row.type,
                " x ".join(map(str, shape)),
                f"{row.parameters:,}" if row.parameters else "",
                binary_bytes(size_in_bytes(row.cache_per_token, dtype)) if row.cache_per_token else "",
                f"x{row.times:,}" if row.times > 1 else "",
            )
            for number, (row, shape) in enumerate(zip(found, shapes, strict=True), 1)
        ),
        numeric=frozenset({0, 4, 5, 6}),
        caption=f"Shapes for a batch of {assumed.batch} and {length:,} tokens.",
    )
    problems = disagreements(tree)
    verdict: list[Block] = [
        Note(f"It will not forward: {item.path or item.module}: {item.problem.message}.", "bad") for item in problems
    ] or [Note("Will it forward: yes, every block's own sizes agree.", "good")]
    drawing = Figure(figure(found), in_words(found))
    return Section(
        "structure",
        "Structure",
        (drawing, *verdict, table),
        {
            "forwards": not problems,
            "problems": [
                {
                    "path": item.path,
                    "message": item.problem.message,
                    "left": item.problem.left,
                    "right": item.problem.right,
                }
                for item in problems
            ],
            "rows": [
                {
                    "name": row.name,
                    "type": row.type,
                    "shape": list(shape),
                    "parameters": row.parameters,
                    "cache_scalars_per_token": row.cache_per_token,
                    "times": row.times,
                }
                for row, shape in zip(found, shapes, strict=True)
            ],
        },
    )


def output_shapes(found: tuple[StructureRow, ...], batch: int, length: int) -> list[tuple[int, ...]]:
    """(batch, length) for token ids, then (batch, length, width); a row that names no width keeps the last one."""
    shapes: list[tuple[int, ...]] = []
    width: int | None = None
    for row in found:
        width = row.width or width
        shapes.append((batch, length) if row.kind == "input" or width is None else (batch, length, width))
    return shapes


def in_words(found: tuple[StructureRow, ...]) -> str:
    """ "embedding -> RoPE -> 62 x (norm -> GQA 6:1 -> add -> norm -> MoE 256, top 8 -> add) -> norm -> head" """
    pieces: list[str] = []
    inside: list[str] = []
    current: tuple[int | None, int] = (None, 1)
    for row in (*found, None):
        key = (row.group, row.times) if row is not None else (None, 1)
        if key != current and inside:
            pieces.append(f"{current[1]} x ({' -> '.join(inside)})" if current[1] > 1 else " -> ".join(inside))
            inside = []
        current = key
        if row is not None:
            inside.append("norm" if row.kind == "norm" else row.type)
    return " -> ".join(pieces)
