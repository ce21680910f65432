"""Derivations that many families share, and makers of such derivations."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import TypeAlias

from neurarch_schemas.config.draft import Draft, Rule, Unusable, as_integer
from neurarch_schemas.config.layer_pattern import LayerPattern
from neurarch_schemas.documents.json_value import JSONScalar, JSONValue

Pattern: TypeAlias = LayerPattern[JSONScalar]

FULL = "full_attention"
SLIDING = "sliding_attention"
LINEAR = "linear_attention"
INDEXED = "indexed_attention"
SPARSE = "sparse"
DENSE = "dense"

# A longer period is no pattern any model has; writing it out would cost as much as the number a file contains.
LONGEST_PERIOD = 4096


def kv_heads(draft: Draft) -> None:
    """Multi-head attention unless the number of KV heads is given."""
    if draft.is_null("num_key_value_heads"):
        draft.derive("num_key_value_heads", draft.get("num_attention_heads"), "num_attention_heads")


def set_head_dim(draft: Draft) -> None:
    """The hidden size is shared out among the heads, whatever is written."""
    size = draft.integer("hidden_size") // draft.integer("num_attention_heads")
    draft.derive("head_dim", size, "hidden_size // num_attention_heads")


def head_dim(draft: Draft) -> None:
    """The hidden size is shared out among the heads unless the head size is given."""
    if draft.is_null("head_dim"):
        set_head_dim(draft)


def head_dim_or_zero(draft: Draft) -> None:
    """As ``head_dim``; a zero counts as not given."""
    if not draft.flag("head_dim"):
        set_head_dim(draft)


def latent_head_dims(draft: Draft) -> None:
    """Multi-head latent attention: ``head_dim`` is the rotary part, ``qk_head_dim`` both parts of queries and keys."""
    qk_head_dim(draft)
    draft.derive("head_dim", draft.get("qk_rope_head_dim"), "qk_rope_head_dim")


def qk_head_dim(draft: Draft) -> None:
    size = draft.integer("qk_nope_head_dim") + draft.integer("qk_rope_head_dim")
    draft.derive("qk_head_dim", size, "qk_nope_head_dim + qk_rope_head_dim")


def same_as(name: str, other: str) -> Rule:
    """``name`` is ``other`` unless it is given."""

    def rule(draft: Draft) -> None:
        if draft.is_null(name):
            draft.derive(name, draft.get(other), other)

    return rule


def same_as_unless_set(name: str, other: str) -> Rule:
    """As ``same_as``; zero and "" count as not given."""

    def rule(draft: Draft) -> None:
        if not draft.flag(name):
            draft.derive(name, draft.get(other), other)

    return rule


def copy_of(name: str, other: str) -> Rule:
    """``name`` always is ``other``."""

    def rule(draft: Draft) -> None:
        draft.derive(name, draft.get(other), other)

    return rule


def fixed(name: str, value: JSONValue) -> Rule:
    """``name`` always has this value, whatever is written."""

    def rule(draft: Draft) -> None:
        draft.derive(name, value, "always so for this type")

    return rule


def default(name: str, value: JSONValue) -> Rule:
    """``name`` has this value where nothing is given."""

    def rule(draft: Draft) -> None:
        if draft.is_null(name):
            draft.derive(name, value, "default of the config class")

    return rule


def default_unless_set(name: str, value: JSONValue) -> Rule:
    """As ``default``; zero, "" and empty lists count as not given."""

    def rule(draft: Draft) -> None:
        if not draft.flag(name):
            draft.derive(name, value, "default of the config class")

    return rule


def computed(name: str, value: Callable[[Draft], JSONValue], source: str) -> Rule:
    """``name`` always is what ``value`` computes."""

    def rule(draft: Draft) -> None:
        draft.derive(name, value(draft), source)

    return rule


def computed_default(name: str, value: Callable[[Draft], JSONValue], source: str) -> Rule:
    """``name`` is what ``value`` computes unless it is given."""

    def rule(draft: Draft) -> None:
        if draft.is_null(name):
            draft.derive(name, value(draft), source)

    return rule


def product(name: str, factor: int, other: str) -> Rule:
    """``name`` is a multiple of ``other`` unless it is given."""
    return computed_default(name, lambda draft: factor * draft.integer(other), f"{factor} * {other}")


def keyword_default(name: str, value: JSONValue) -> Rule:
    """As if the (legacy) key had been written, where it is not."""

    def rule(draft: Draft) -> None:
        draft.keywords.setdefault(name, value)

    return rule


def renamed(old: str, name: str) -> Rule:
    """The legacy key ``old`` takes precedence over ``name``."""

    def rule(draft: Draft) -> None:
        if old in draft.keywords:
            draft.derive(name, draft.take(old), old)

    return rule


def dropped(*keys: str) -> Rule:
    """Legacy keys that are read by nothing."""

    def rule(draft: Draft) -> None:
        for key in keys:
            draft.take(key)

    return rule


def auto_rank(name: str, other: str = "hidden_size") -> Rule:
    """Mamba: the rank of the time step is 1/16 of the width, rounded up, when it says "auto"."""

    def rule(draft: Draft) -> None:
        if draft.get(name) == "auto":
            draft.derive(name, ceil(draft.integer(other) / 16), f"ceil({other} / 16)")

    return rule


# Per-layer lists.


def layers(draft: Draft, name: str = "num_hidden_layers") -> int:
    """The number of layers; Unusable when negative."""
    count = draft.integer(name)
    if count < 0:
        raise Unusable(name)
    return count


def short(count: int) -> int:
    """A count that may be written out; Unusable beyond any real model."""
    if count > LONGEST_PERIOD:
        raise Unusable(count)
    return count


def constant(value: JSONScalar, length: int) -> Pattern:
    return LayerPattern.constant(value, max(length, 0))


def by_index(length: int, value: Callable[[int], JSONScalar], period: int, start: int = 0) -> Pattern:
    """``value(i)`` for every layer i, where ``value`` repeats with ``period`` from layer ``start`` on."""
    short(start)
    head: Pattern = LayerPattern.of(value(i) for i in range(min(start, length)))
    if length <= start:
        return head
    return head + LayerPattern.periodic(
        [value(start + i) for i in range(min(short(period), length - start))], length - start
    )


def every_nth(step: int, length: int, nth: str, other: str) -> Pattern:
    """Layers i with (i + 1) divisible by ``step`` are ``nth``, the rest ``other``."""
    if step == 0:
        raise Unusable(step)
    step = abs(step)
    if step > length:
        return constant(other, length)
    if step > LONGEST_PERIOD:
        raise Unusable(step)
    return LayerPattern.periodic([*[other] * (step - 1), nth], length)


def dense_then_sparse(dense: int, length: int) -> Pattern:
    dense = max(0, min(dense, length))
    return constant(DENSE, dense) + constant(SPARSE, length - dense)


def sparse_from(first: int, step: int, length: int) -> Pattern:
    """Layers from ``first`` on whose index is divisible by ``step`` hold experts."""
    if step == 0:
        raise Unusable(step)
    first = max(0, min(first, length))
    step = abs(step)
    rest = by_index(length - first, lambda i: SPARSE if (first + i) % step == 0 else DENSE, min(step, max(length, 1)))
    return constant(DENSE, first) + rest


def per_layer(name: str, pattern: Callable[[Draft, int], Pattern], source: str) -> Rule:
    """Unless given, the list ``name`` is what ``pattern`` makes for that many layers."""

    def rule(draft: Draft) -> None:
        if draft.is_null(name):
            draft.derive_pattern(name, pattern(draft, layers(draft)), source)

    return rule


def alternating(step: int, nth: str = FULL, other: str = SLIDING, name: str = "layer_types") -> Rule:
    """Unless given: every ``step``-th layer is ``nth`` (the last of each group), the others ``other``."""
    source = f"{nth} in every {ordinal(step)} layer"
    return per_layer(name, lambda _, length: every_nth(step, length, nth, other), source)


def alternating_by(
    key: str, fallback: int | None = None, nth: str = FULL, other: str = SLIDING, name: str = "layer_types"
) -> Rule:
    """As ``alternating``, with the step in ``key``: a declared key, or a legacy one with the default ``fallback``."""

    def pattern(draft: Draft, length: int) -> Pattern:
        step = draft.integer(key) if fallback is None else draft.take_integer(key, fallback)
        return every_nth(step, length, nth, other)

    return per_layer(name, pattern, f"{nth} in every layer divisible by {key}")


def alike(name: str, value: str) -> Rule:
    """Unless given: all layers are alike."""
    return per_layer(name, lambda _, length: constant(value, length), "all layers alike")


def first_dense(count: int) -> Rule:
    """Unless given: the first ``count`` layers have a plain feed-forward, the others experts."""
    source = f"the first {count} layers are dense"
    return per_layer("mlp_layer_types", lambda _, length: dense_then_sparse(count, length), source)


def first_dense_by(key: str, fallback: int | None = None) -> Rule:
    """As ``first_dense``, with the count in a declared key, or a legacy one with the default ``fallback``."""

    def pattern(draft: Draft, length: int) -> Pattern:
        count = as_integer(draft.get(key)) if fallback is None else draft.take_integer(key, fallback)
        return dense_then_sparse(count, length)

    return per_layer("mlp_layer_types", pattern, f"{key}: the first layers are dense")


def ordinal(number: int) -> str:
    return {1: "", 2: "second", 3: "third"}.get(number, f"{number}th")


def truncated(draft: Draft, name: str, length: int) -> None:
    """A written list that is too long loses its end."""
    value = draft.get(name)
    if isinstance(value, list) and len(value) > length:
        draft.derive(name, value[:length], "cut to num_hidden_layers")


def first_of(kinds: Pattern, kind: str) -> int:
    """The index of the first layer of a kind. Raises Unusable when there is none."""
    place = 0
    for run in kinds.runs:
        if kind in run.period:
            return place + run.period.index(kind)
        place += run.length
    raise Unusable(kind)
