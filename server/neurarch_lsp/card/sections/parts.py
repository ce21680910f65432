"""Where the parameters are: by part of the network and by run of equal layers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neurarch_lsp.render.card_blocks import Bars, Section, Table
from neurarch_lsp.render.layers import describe
from neurarch_schemas.accounting.parameters import count_parameters
from neurarch_schemas.accounting.quantities import count
from neurarch_schemas.modules.tree import Module, Stack

if TYPE_CHECKING:
    from neurarch_schemas.analysis import Analysis

MOST_RUNS = 40


def section(analysis: Analysis) -> Section | None:
    tree, counted = analysis.built.tree, analysis.parameters
    if tree is None or counted is None or not counted.total:
        return None
    parts = sorted(counted.by_part, key=lambda item: -item[1])
    runs = layer_runs(tree)
    table = Table(
        ("layers", "kind", "parameters each", "parameters", "share"),
        tuple(
            (where, kind, f"{each:,}", f"{each * times:,}", f"{100 * each * times / counted.total:.1f} %")
            for where, kind, each, times in runs[:MOST_RUNS]
        ),
        numeric=frozenset({2, 3, 4}),
        caption=f"{len(runs) - MOST_RUNS} further runs are not listed." if len(runs) > MOST_RUNS else "",
    )
    bars = Bars(
        tuple(
            (part, f"{scalars:,} ({count(scalars)}, {100 * scalars / counted.total:.2f} %)", scalars / counted.total)
            for part, scalars in parts
        )
    )
    return Section(
        "parts",
        "Where the parameters are",
        (bars, table) if runs else (bars,),
        {
            "by_part": dict(parts),
            "by_layers": [
                {"layers": where, "kind": kind, "parameters_each": each, "times": times}
                for where, kind, each, times in runs
            ],
        },
    )


def layer_runs(tree: Module, path: str = "") -> list[tuple[str, str, int, int]]:
    """Where, kind, parameters of one layer and how many, for each run of equal layers in order."""
    found: list[tuple[str, str, int, int]] = []
    for name, child in tree.children:
        inner = f"{path}.{name}" if path else name
        if isinstance(child, Stack):
            if any(module.part == "experts" for run in child.runs for module in run.modules):
                continue
            found += _runs_of(child, inner)
        else:
            found += layer_runs(child, inner)
    return found


def _runs_of(stack: Stack, path: str) -> list[tuple[str, str, int, int]]:
    found: list[tuple[str, str, int, int]] = []
    known: dict[int, tuple[str, int]] = {}
    index = stack.first_index
    for run in stack.runs:
        where = f"{path} {index}" + (f"-{index + run.length - 1}" if run.length > 1 else "")
        kinds: dict[tuple[str, int], int] = {}
        for module in run.modules:
            key = known.get(id(module))
            if key is None:
                key = known[id(module)] = (describe(module), count_parameters(module).total)
            kinds[key] = kinds.get(key, 0) + run.times
        found += [(where, kind, each, times) for (kind, each), times in kinds.items()]
        index += run.length
    return found
