"""Putting layers together: stacks from per-layer patterns, and the language-model head."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeVar

from neurarch_schemas.config.layer_pattern import LayerPattern
from neurarch_schemas.modules.layers import linear
from neurarch_schemas.modules.tree import Module, Run, Stack

Kind = TypeVar("Kind", bound=Hashable)


def layers(pattern: LayerPattern[Kind], build: Callable[[Kind], Module]) -> Stack:
    """One layer an entry; ``build`` is called once for each distinct kind."""
    built = {kind: build(kind) for kind in pattern.counts()}
    return Stack(tuple(Run(tuple(built[kind] for kind in run.period), run.times) for run in pattern.runs))


def lm_head(hidden: int, vocabulary: int, *, tied_to: str | None = None, bias: bool = False) -> Module:
    """Logits over the vocabulary; with ``tied_to`` it shares the named embedding's matrix."""
    return linear(hidden, vocabulary, bias, tied_to=tied_to, part="head")
