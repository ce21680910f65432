"""The mix of layers in words: "62 GQA", "3 dense + 57 sparse MoE", "29 sliding GQA + 5 GQA (5 sliding : 1 full)"."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from neurarch_lsp.render.model_numbers import attention_name
from neurarch_schemas.modules.tree import TOWERS, Module, Stack, walk

if TYPE_CHECKING:
    from neurarch_schemas.analysis import Analysis

RECURRENT = ("state space", "linear attention", "convolution")
MOST_LAYERS = 1000
LONGEST_CYCLE = 10
REGULAR = 0.9
"""Share of layers that must be of the kind of the layer one cycle before."""
SHORT = ("cross-attention", "sliding", "chunked", "sparse", "linear", "state space", "convolution")


def layer_mix(analysis: Analysis) -> str | None:
    """What mixes tokens, then what follows where that is not one dense network in every layer."""
    tree = analysis.built.tree
    stacks = [] if tree is None else list(text_stacks(tree))
    mixers: Counter[str] = Counter()
    blocks: Counter[str] = Counter()
    for stack in stacks:
        for module, times in stack.distinct():
            mixer, block = kinds(module)
            mixers[mixer] += times
            blocks[block] += times
    named = [_sum(counts) for counts in (mixers, blocks) if any(name for name in counts)]
    if not named:
        return None
    cycle = _cycle(max(stacks, key=lambda stack: stack.length))
    first = named[0] + (f" ({cycle})" if cycle else "") + _passes(analysis)
    return "; ".join([first, *(named[1:] if set(blocks) - {"dense", ""} else [])])


def kinds(layer: Module) -> tuple[str, str]:
    """What mixes tokens in a layer ("sliding GQA", "linear attention") and what follows ("dense", "sparse MoE")."""
    mixers: dict[str, None] = {}
    parts: set[str] = set()
    cross = False
    for visit in walk(layer):
        shape = visit.module.attention
        if shape is not None and shape.kind == "cross":
            cross = True
        elif shape is not None and shape.kind != "linear":
            mixers[" ".join(word for word in attention_name(shape).split() if ":" not in word)] = None
        if shape is None and visit.part in RECURRENT:
            mixers[visit.part] = None
        if shape is not None and shape.kind == "linear":
            mixers["linear attention"] = None
        parts.add(visit.part)
    block = "sparse MoE" if "experts" in parts else "dense" if "feed-forward" in parts else ""
    mixer = " and ".join(mixers) or ("cross-attention" if cross else "")
    return mixer + (" with cross-attention" if cross and mixers else ""), block


def text_stacks(module: Module) -> Iterator[Stack]:
    """The outermost lists of layers outside of towers."""
    if module.part in TOWERS:
        return
    for _, child in module.children:
        if isinstance(child, Stack):
            if any(kinds(layer) != ("", "") for layer, _ in child.distinct()):
                yield child
        else:
            yield from text_stacks(child)


def tower_layers(module: Module, tower: str | None = None) -> Counter[str]:
    """How many layers that attend each vision or audio tower has."""
    found: Counter[str] = Counter()
    inside = tower or (module.part if module.part in ("vision", "audio") else None)
    for _, child in module.children:
        if isinstance(child, Module):
            found += tower_layers(child, inside)
        elif inside is not None:
            found[inside] += sum(times for layer, times in child.distinct() if kinds(layer)[0])
    return found


def tower_networks(module: Module) -> Counter[str]:
    """How many networks make up each vision or audio tower: a model that speaks has several for audio."""
    found: Counter[str] = Counter()
    for _, child in module.children:
        if isinstance(child, Module):
            found += Counter([child.part]) if child.part in ("vision", "audio") else tower_networks(child)
    return found


def _sum(counts: Counter[str]) -> str:
    return " + ".join(f"{times:,} {name}" for name, times in counts.items() if name)


def _cycle(stack: Stack) -> str | None:
    """How the kinds of mixers take turns ("5 sliding : 1 full"), where they do so nearly all the way."""
    if stack.length > MOST_LAYERS:
        return None
    known = {id(module): kinds(module)[0] for module, _ in stack.distinct()}
    each = [known[id(module)] for run in stack.runs for module in run.modules * run.times]
    mixers = [mixer for mixer in each if mixer]
    if len(set(mixers)) < 2:
        return None
    for period in range(2, min(LONGEST_CYCLE, len(mixers) // 2) + 1):
        pairs = list(zip(mixers, mixers[period:], strict=False))
        if sum(a == b for a, b in pairs) >= REGULAR * len(pairs):
            cycles = Counter(tuple(mixers[at : at + period]) for at in range(len(mixers) - period + 1))
            often = max(cycles.values())
            counts = Counter(next(cycle for cycle, times in cycles.items() if times == often))
            words = " : ".join(f"{times} {_short(name)}" for name, times in counts.items())
            return words if len(counts) > 1 else None
    return None


def _passes(analysis: Analysis) -> str:
    """ ", run 12 times" where a layer's parameters serve more than once."""
    tree = analysis.built.tree
    stacks = [] if tree is None else text_stacks(tree)
    layers = {id(layer) for stack in stacks for layer, _ in stack.distinct()}
    passes = {visit.passes for visit in analysis.visits if id(visit.module) in layers}
    return f", run {max(passes)} times" if passes and max(passes) > 1 else ""


def _short(name: str) -> str:
    return next((word for word in SHORT if name.startswith(word)), "full")
