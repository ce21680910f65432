"""Putting layers together: stacks from per-layer patterns, and the language-model head."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeVar

from neurarch_schemas.config.layer_pattern import LayerPattern
from neurarch_schemas.modules.layers import linear
from neurarch_schemas.modules.tree import Module, Part, Run, Stack, Tensor, stack

Kind = TypeVar("Kind", bound=Hashable)


def layers(pattern: LayerPattern[Kind], build: Callable[[Kind], Module]) -> Stack:
    """One layer an entry; ``build`` is called once for each distinct kind."""
    built = {kind: build(kind) for kind in pattern.counts()}
    return Stack(tuple(Run(tuple(built[kind] for kind in run.period), run.times) for run in pattern.runs))


def uniform(layer: Module, times: int) -> Stack:
    """``times`` equal layers."""
    return stack(layer, times=times)


def lm_head(hidden: int, vocabulary: int, *, tied_to: str | None = None, bias: bool = False) -> Module:
    """Logits over the vocabulary; with ``tied_to`` it shares the named embedding's matrix."""
    return linear(hidden, vocabulary, bias, tied_to=tied_to, part="head")


def list_of_lists(*lists: tuple[Module, int]) -> Stack:
    """A list whose items are lists of equal modules. Kept flat, with the same two indices in every name."""
    return Stack(tuple(Run((Module("List", children=(("0", item),)),), times) for item, times in lists if times > 0))


def tied_copy(module: Module, original: str, *, shares: Callable[[Tensor], bool] = lambda _: True) -> Module:
    """``module`` with every tensor sharing the storage of the one of the same name under the path ``original``.

    Tensors for which ``shares`` says no keep their own.
    """
    tensors = tuple(
        tensor._replace(tied_to=f"{original}.{tensor.name}") if shares(tensor) else tensor for tensor in module.tensors
    )
    copies = tuple(
        (
            name,
            tied_copy(child, f"{original}.{name}", shares=shares)
            if isinstance(child, Module)
            else tied_stack(child, f"{original}.{name}", shares=shares),
        )
        for name, child in module.children
    )
    return module.with_(tensors=tensors, children=copies)


def tied_stack(stack: Stack, original: str, *, shares: Callable[[Tensor], bool] = lambda _: True) -> Stack:
    """As ``tied_copy``, for the list of modules under the path ``original``."""
    path = f"{original}.{{}}"
    return Stack(
        tuple(
            Run(tuple(tied_copy(item, path, shares=shares) for item in run.modules), run.times) for run in stack.runs
        ),
        stack.first_index,
    )


def in_part(module: Module, part: Part) -> Module:
    """``module`` with everything inside it counted under ``part``: a tower is "vision" through and through.

    It loses its caches, as they do not grow with the tokens of the language model.
    """
    inside = tuple(
        (name, in_part(child, part) if isinstance(child, Module) else _stack_in_part(child, part))
        for name, child in module.children
    )
    return module.with_(part=part, children=inside, caches=())


def _stack_in_part(stack: Stack, part: Part) -> Stack:
    built = {id(item): in_part(item, part) for run in stack.runs for item in run.modules}
    runs = tuple(Run(tuple(built[id(item)] for item in run.modules), run.times) for run in stack.runs)
    return Stack(runs, stack.first_index)
