"""Floating point operations of a forward pass, from the matrices and the attention geometry of a tree.

A multiply-accumulate is two operations. Norms, activations, softmax and position encodings are left out, as in
Kaplan et al. 2020 (arXiv:2001.08361), section 2.1. Vision and audio towers work on their own inputs, not on text
tokens, so they are counted by themselves.
"""

from __future__ import annotations

from collections.abc import Iterable

from neurarch_schemas.accounting.parameters import active_share
from neurarch_schemas.modules.tree import TOWERS, AttentionShape, Module, Part, Visit, walk
from neurarch_schemas.record import Record


class ForwardCost(Record):
    """``matrices`` are operations per token by part; ``attention`` the geometry of each kind of layer and its runs."""

    matrices: tuple[tuple[Part, int], ...]
    attention: tuple[tuple[AttentionShape, int], ...]

    @property
    def per_token(self) -> int:
        """Operations of all matrices for one token, scores and their sums over values left out."""
        return sum(operations for _, operations in self.matrices)

    def decode(self, context: int) -> int:
        """Operations for one new token after ``context`` tokens."""
        return self.per_token + sum(_attention_of_one(shape, context + 1) * layers for shape, layers in self.attention)

    def prefill(self, tokens: int) -> int:
        """Operations for a prompt of ``tokens`` tokens, each attending to those before it."""
        return self.per_token * tokens + sum(_attention(shape, tokens) * layers for shape, layers in self.attention)


def forward_cost(tree: Module) -> ForwardCost:
    return cost_of(visit for visit in walk(tree) if visit.part not in TOWERS)


def tower_costs(tree: Module) -> dict[Part, ForwardCost]:
    """For one position of each tower's own input; projectors are no towers."""
    visits: dict[Part, list[Visit]] = {}
    for visit in walk(tree):
        if visit.part == "vision" or visit.part == "audio":
            visits.setdefault(visit.part, []).append(visit)
    return {part: cost_of(inside) for part, inside in visits.items()}


def cost_of(visits: Iterable[Visit]) -> ForwardCost:
    """Operations of these modules, each as often as it stands there and a forward pass runs it."""
    matrices: dict[Part, int] = {}
    shapes: dict[AttentionShape, int] = {}
    for visit in visits:
        module = visit.module
        if module.multiply_accumulates:
            operations = 2 * module.multiply_accumulates * visit.times * visit.passes
            if visit.routing is not None and not visit.routing.fused and module.routing is None:
                operations = active_share(operations, visit)
            matrices[visit.part] = matrices.get(visit.part, 0) + operations
        if module.attention is not None:
            shapes[module.attention] = shapes.get(module.attention, 0) + visit.times * visit.passes
    return ForwardCost(tuple(matrices.items()), tuple(shapes.items()))


def attended(shape: AttentionShape, position: int) -> int:
    """Keys that the query at 1-based ``position`` of a sequence looks at."""
    if shape.kind == "linear":
        return 0
    if shape.selection is not None:
        chosen = shape.selection
        keys = position // chosen.tokens_per_key
        return (keys if chosen.most is None else min(keys, chosen.most)) + min(position, chosen.local)
    if shape.kind == "chunked" and shape.window:
        return (position - 1) % shape.window + 1
    return position if shape.window is None else min(position, shape.window)


def attended_by_all(shape: AttentionShape, tokens: int) -> int:
    """The sum of ``attended`` over a sequence of ``tokens`` tokens, in closed form."""
    if shape.kind == "linear":
        return 0
    if not shape.causal:
        return tokens * tokens
    if shape.selection is not None:
        chosen = shape.selection
        return _sum_of_least(tokens, chosen.tokens_per_key, chosen.most) + _sum_of_least(tokens, 1, chosen.local)
    if shape.window is None or tokens <= shape.window:
        return tokens * (tokens + 1) // 2
    full = shape.window * (shape.window + 1) // 2
    if shape.kind == "chunked":
        whole, rest = divmod(tokens, shape.window)
        return whole * full + rest * (rest + 1) // 2
    return full + (tokens - shape.window) * shape.window


def _sum_of_least(tokens: int, step: int, most: int | None) -> int:
    """The sum of ``min(position // step, most)`` over the positions 1 to ``tokens``."""
    groups = tokens // step
    top = groups if most is None else min(groups, most)
    return step * (top - 1) * top // 2 + top * (tokens - top * step + 1) if top else 0


def _attention(shape: AttentionShape, tokens: int) -> int:
    """Operations of one layer for a sequence: scores, sums of values, and the scores of an indexer."""
    operations = _score_operations(shape) * attended_by_all(shape, tokens)
    if shape.selection is not None:
        candidates = _sum_of_least(tokens, shape.selection.tokens_per_candidate, None)
        operations += 2 * shape.selection.index_width * candidates
    return operations


def _attention_of_one(shape: AttentionShape, position: int) -> int:
    """As ``_attention``, for the query at 1-based ``position``."""
    operations = _score_operations(shape) * attended(shape, position)
    if shape.selection is not None:
        operations += 2 * shape.selection.index_width * (position // shape.selection.tokens_per_candidate)
    return operations


def _score_operations(shape: AttentionShape) -> int:
    """Scores and the weighted sum of values, for one query and one key over all heads."""
    return 2 * shape.heads * (shape.qk_dim + shape.v_dim)
