"""The layer structure of a model in words: "0-2 GQA 6:1, dense", "3-59 GQA 6:1, MoE"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neurarch_lsp.render.model_numbers import attention_name
from neurarch_schemas.modules.tree import Module, Stack, walk
from neurarch_schemas.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from neurarch_schemas.analysis import Analysis

MAX_RUNS = 200
OTHER_PARTS = frozenset({"vision", "audio", "projector"})


class LayerRun(Record):
    """Layers ``first`` to ``last`` (inclusive, counted from 0) of one kind, or of one repeating period."""

    first: int
    last: int
    text: str


def layer_runs(analysis: Analysis) -> tuple[LayerRun, ...]:
    """Of the longest list of layers that is no vision or audio tower; () where there is none."""
    tree = analysis.built.tree
    stacks = [] if tree is None else list(_stacks(tree))
    if not stacks:
        return ()
    stack = max(stacks, key=lambda found: found.length)
    runs: list[LayerRun] = []
    at = stack.first_index
    for run in stack.runs:
        names = [describe(module) for module in run.modules]
        if len(set(names)) == 1:
            text = names[0]
        else:
            text = " | ".join(_grouped(names)) + (f", {run.times} times" if run.times > 1 else "")
        if runs and runs[-1].text == text and len(set(names)) == 1:
            runs[-1] = LayerRun(runs[-1].first, at + run.length - 1, text)
        else:
            runs.append(LayerRun(at, at + run.length - 1, text))
        at += run.length
        if len(runs) > MAX_RUNS:
            break
    return tuple(runs)


def describe(layer: Module, *, heads: bool = False) -> str:
    """What mixes tokens and what follows, of one layer; ``heads`` as ``attention_name`` takes it."""
    mixers: dict[str, None] = {}
    parts: dict[str, None] = {}
    for visit in walk(layer):
        if visit.module.attention is not None:
            mixers[attention_name(visit.module.attention, heads=heads)] = None
        if visit.part in ("state space", "linear attention", "convolution"):
            mixers[
                {"state space": "state space", "linear attention": "linear attention"}.get(visit.part, "convolution")
            ] = None
        parts[visit.part] = None
    if "experts" in parts:
        block = "MoE" + (" + shared expert" if "shared experts" in parts else "")
    else:
        block = "dense" if "feed-forward" in parts else ""
    return ", ".join(item for item in (" + ".join(mixers), block) if item) or layer.type


def _stacks(module: Module, part: str | None = None) -> Iterator[Stack]:
    part = module.part or part
    if part in OTHER_PARTS:
        return
    for _, child in module.children:
        if isinstance(child, Stack):
            if child.length and not all(item.part == "experts" for run in child.runs for item in run.modules):
                yield child
        else:
            yield from _stacks(child, part)


def _grouped(names: list[str]) -> list[str]:
    """["a", "a", "b"] as "2 x a", "b"."""
    groups: list[tuple[str, int]] = []
    for name in names:
        if groups and groups[-1][0] == name:
            groups[-1] = (name, groups[-1][1] + 1)
        else:
            groups.append((name, 1))
    return [name if number == 1 else f"{number} x {name}" for name, number in groups]
