"""Number, name, type, output shape, parameters and cache of each block; and whether it will forward."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from typing import TYPE_CHECKING

from neurarch_lsp.card.figure import figure
from neurarch_lsp.card.layer_order import StructureRow
from neurarch_lsp.card.lengths import position_tables, sequence_length
from neurarch_lsp.card.structure import rows
from neurarch_lsp.render.card_blocks import Block, Figure, Note, Section, Table
from neurarch_schemas.accounting.dtypes import size_in_bytes
from neurarch_schemas.accounting.forward import disagreements
from neurarch_schemas.accounting.quantities import binary_bytes
from neurarch_schemas.modules.tree import TOWERS

if TYPE_CHECKING:
    from neurarch_lsp.card.assumptions import Assumptions
    from neurarch_schemas.analysis import Analysis


def section(analysis: Analysis, assumed: Assumptions) -> Section | None:
    tree, config = analysis.built.tree, analysis.config
    if tree is None or config is None:
        return None
    found = rows(analysis, expand=assumed.expand)
    length = sequence_length(analysis, assumed)
    dtype = analysis.cache_dtype(assumed.cache_dtype)
    lengths: dict[str | None, int | None] = {None: length}
    lengths.update((part, size) for part, size in position_tables(tree).items() if part in TOWERS)
    shapes = output_shapes(found, assumed.batch, lengths)
    table = Table(
        ("no.", "name", "type", "output", "parameters", "cache/token", "times"),
        tuple(
            (
                str(number),
                row.name,
                row.type,
                " x ".join("n" if size is None else str(size) for size in shape),
                f"{row.parameters:,}" if row.parameters else "",
                binary_bytes(size_in_bytes(row.cache_per_token, dtype)) if row.cache_per_token else "",
                f"x{row.times:,}" if row.times > 1 else "",
            )
            for number, (row, shape) in enumerate(zip(found, shapes, strict=True), 1)
        ),
        numeric=frozenset({0, 3, 4, 5, 6}),
        caption=f"Shapes for a batch of {assumed.batch} and {length:,} tokens"
        + ("; n is not told by the file." if any(None in shape for shape in shapes) else "."),
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


def output_shapes(
    found: tuple[StructureRow, ...], batch: int, lengths: Mapping[str | None, int | None]
) -> list[tuple[int | None, ...]]:
    """(batch, length) of token ids, then (batch, length, width); a row that names no width keeps the last one.

    ``lengths`` are those of each tower and, under None, of the language model; a length that the file does not tell is
    None. () for what is no sequence of vectors: pixels, rotary tables.
    """
    shapes: list[tuple[int | None, ...]] = []
    width: int | None = None
    for index, row in enumerate(found):
        length = lengths.get(row.tower)
        if row.kind == "input":
            width = next((later.width for later in found[index:] if later.width is not None), None)
            shapes.append((batch, length) if row.type == "token ids" else ())
        elif row.type == "RoPE":
            shapes.append(())
        else:
            width = row.width or width
            shapes.append((batch, length) if width is None else (batch, length, width))
    return shapes


def in_words(found: tuple[StructureRow, ...]) -> str:
    """ "token ids -> Embedding -> RoPE -> 62 x (norm -> GQA 48:8 -> add -> norm -> MoE 256, top 8 -> add) -> norm" """
    pieces: list[str] = []
    for group, members in groupby(found, key=lambda row: row.group):
        if group is None:
            pieces += [_word(row) for row in members]
            continue
        layers = [list(rows) for _, rows in groupby(members, key=lambda row: row.index)]
        words = [_times(rows[0].repeat if len(layers) > 1 else 1, " -> ".join(map(_word, rows))) for rows in layers]
        cycles = layers[0][0].cycles if len(layers) > 1 else layers[0][0].times
        pieces.append(_times(cycles, " -> ".join(words)))
    return " -> ".join(pieces)


def _word(row: StructureRow) -> str:
    return "norm" if row.kind == "norm" else row.type


def _times(count: int, text: str) -> str:
    return f"{count:,} x ({text})" if count > 1 else text
