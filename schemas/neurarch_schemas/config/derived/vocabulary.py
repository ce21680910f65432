"""Derivations that many families share, and makers of such derivations."""

from __future__ import annotations

from neurarch_schemas.config.draft import Draft, Rule, Unusable, as_integer
from neurarch_schemas.config.layer_pattern import LayerPattern
from neurarch_schemas.documents.json_value import JSONScalar, JSONValue

FULL = "full_attention"
SLIDING = "sliding_attention"
LINEAR = "linear_attention"

# A longer period is no pattern any model has; writing it out would cost as much as the number a file contains.
LONGEST_PERIOD = 4096


def kv_heads(draft: Draft) -> None:
    """Multi-head attention unless the number of KV heads is given."""
    if draft.is_null("num_key_value_heads"):
        draft.derive("num_key_value_heads", draft.get("num_attention_heads"), "num_attention_heads")


def head_dim(draft: Draft) -> None:
    """The hidden size is shared out among the heads unless the head size is given."""
    if draft.is_null("head_dim"):
        set_head_dim(draft)


def set_head_dim(draft: Draft) -> None:
    """As ``head_dim``, whatever is written."""
    draft.derive(
        "head_dim",
        draft.integer("hidden_size") // draft.integer("num_attention_heads"),
        "hidden_size // num_attention_heads",
    )


def same_as(name: str, other: str) -> Rule:
    """``name`` is ``other`` unless it is given."""

    def rule(draft: Draft) -> None:
        if draft.is_null(name):
            draft.derive(name, draft.get(other), other)

    return rule


def copy_of(name: str, other: str) -> Rule:
    """``name`` always is ``other``."""

    def rule(draft: Draft) -> None:
        draft.derive(name, draft.get(other), other)

    return rule


def sum_of(name: str, *parts: str) -> Rule:
    """``name`` always is the sum of ``parts``."""

    def rule(draft: Draft) -> None:
        draft.derive(name, sum(draft.integer(part) for part in parts), " + ".join(parts))

    return rule


def fixed(name: str, value: JSONValue, source: str = "set by the config class") -> Rule:
    """``name`` always has this value."""

    def rule(draft: Draft) -> None:
        draft.derive(name, value, source)

    return rule


def default(name: str, value: JSONValue, source: str = "default of the config class") -> Rule:
    """``name`` has this value where nothing is given."""

    def rule(draft: Draft) -> None:
        if draft.is_null(name):
            draft.derive(name, value, source)

    return rule


def keyword_default(name: str, value: JSONValue) -> Rule:
    """As if the key had been written, where it is not."""

    def rule(draft: Draft) -> None:
        draft.keywords.setdefault(name, value)

    return rule


def layers(draft: Draft, name: str = "num_hidden_layers") -> int:
    """The number of layers; Unusable when negative."""
    count = draft.integer(name)
    if count < 0:
        raise Unusable(name)
    return count


def every_nth(step: int, length: int, nth: str, other: str, offset: int = 0) -> LayerPattern[JSONScalar]:
    """Layers i with (i + 1 - offset) divisible by ``step`` are ``nth``, the rest ``other``."""
    if step <= 0:
        raise Unusable(step)
    pattern: LayerPattern[JSONScalar] = LayerPattern.constant(other, length)
    if step > length:
        place = step - 1 + offset
        return pattern.with_item(place, nth)
    if step > LONGEST_PERIOD:
        raise Unusable(step)
    return LayerPattern.periodic([nth if (i + 1 - offset) % step == 0 else other for i in range(step)], length)


def alternating(step: int, nth: str = FULL, other: str = SLIDING, name: str = "layer_types", offset: int = 0) -> Rule:
    """Unless given: every ``step``-th layer is ``nth`` (the last of each group), the others ``other``."""

    def rule(draft: Draft) -> None:
        if draft.is_null(name) and name not in draft.patterns:
            draft.derive_pattern(
                name, every_nth(step, layers(draft), nth, other, offset), f"every {step}th layer is {nth}"
            )

    return rule


def alternating_by(
    key: str,
    fallback: int | None = None,
    nth: str = FULL,
    other: str = SLIDING,
    name: str = "layer_types",
    offset: int = 0,
) -> Rule:
    """As ``alternating``, with the step in ``key``: a declared key, or a legacy one with the default ``fallback``."""

    def rule(draft: Draft) -> None:
        if not draft.is_null(name) or name in draft.patterns:
            return
        step = draft.integer(key) if fallback is None else draft.take_integer(key, fallback)
        draft.derive_pattern(
            name, every_nth(step, layers(draft), nth, other, offset), f"every {step}th layer is {nth} ({key})"
        )

    return rule


def constant(name: str, value: str) -> Rule:
    """Unless given: all layers are alike."""

    def rule(draft: Draft) -> None:
        if draft.is_null(name):
            draft.derive_pattern(name, LayerPattern.constant(value, layers(draft)), "all layers alike")

    return rule


def dense_then_sparse(dense: int, length: int) -> LayerPattern[JSONScalar]:
    dense = max(0, min(dense, length))
    first: LayerPattern[JSONScalar] = LayerPattern.constant("dense", dense)
    return first + LayerPattern.constant("sparse", length - dense)


def first_dense(count: int, name: str = "mlp_layer_types") -> Rule:
    """Unless given: the first ``count`` layers have a plain feed-forward, the others experts."""

    def rule(draft: Draft) -> None:
        if draft.is_null(name):
            draft.derive_pattern(name, dense_then_sparse(count, layers(draft)), f"the first {count} layers are dense")

    return rule


def first_dense_by(key: str, fallback: int | None = None, name: str = "mlp_layer_types") -> Rule:
    """As ``first_dense``, with the count in a declared key, or a legacy one with the default ``fallback``."""

    def rule(draft: Draft) -> None:
        if draft.is_null(name):
            count = as_integer(draft.get(key)) if fallback is None else draft.take_integer(key, fallback)
            draft.derive_pattern(
                name, dense_then_sparse(count, layers(draft)), f"{key}: the first {count} layers are dense"
            )

    return rule
