"""Where the parameters are: by part of the network and by kind of layer."""

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
LEAST_SHARE = 0.001
"""Of all parameters; smaller kinds of layers are not listed."""


def section(analysis: Analysis) -> Section | None:
    tree, counted = analysis.built.tree, analysis.parameters
    if tree is None or counted is None or not counted.total:
        return None
    parts = sorted(counted.by_part, key=lambda item: -item[1])
    runs = layer_runs(tree)
    listed = [run for run in runs if run[2] * run[3] >= LEAST_SHARE * counted.total][:MOST_RUNS]
    table = Table(
        ("layers", "kind", "times", "parameters each", "parameters", "share"),
        tuple(
            (
                where,
                kind,
                f"x{times:,}",
                f"{each:,}",
                f"{each * times:,}",
                f"{100 * each * times / counted.total:.1f} %",
            )
            for where, kind, each, times in listed
        ),
        numeric=frozenset({2, 3, 4, 5}),
        caption=f"{len(runs) - len(listed)} further kinds, all small, are not listed."
        if len(runs) > len(listed)
        else "",
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
        (bars, table) if listed else (bars,),
        {
            "by_part": dict(parts),
            "by_layers": [
                {"layers": where, "kind": kind, "parameters_each": each, "times": times}
                for where, kind, each, times in runs
            ],
        },
    )


def layer_runs(tree: Module, path: str = "") -> list[tuple[str, str, int, int]]:
    """Where, kind, parameters of one layer and how many, for each kind of layer in each list, in order."""
    found: list[tuple[str, str, int, int]] = []
    for name, child in tree.children:
        inner = f"{path}.{name}" if path else name
        if isinstance(child, Stack):
            if any(module.part == "experts" for run in child.runs for module in run.modules):
                continue
            found += _kinds_of(child, inner)
        else:
            found += layer_runs(child, inner)
    return found


def _kinds_of(stack: Stack, path: str) -> list[tuple[str, str, int, int]]:
    """Layers of one kind and size stand together, from the first of them to the last."""
    spans: dict[tuple[str, int], tuple[int, int, int]] = {}
    known: dict[int, tuple[str, int]] = {}
    index = stack.first_index
    for run in stack.runs:
        period = len(run.modules)
        for offset, module in enumerate(run.modules):
            key = known.get(id(module))
            if key is None:
                key = known[id(module)] = (describe(module, heads=True), count_parameters(module).total)
            first, last = index + offset, index + offset + period * (run.times - 1)
            before = spans.get(key, (first, last, 0))
            spans[key] = (before[0], max(before[1], last), before[2] + run.times)
        index += run.length
    return [
        (f"{path} {first}" + (f"-{last}" if last > first else ""), kind, each, times)
        for (kind, each), (first, last, times) in spans.items()
    ]
