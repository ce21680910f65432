"""Classes in which layers of one kind have other sizes than the rest (``per_layer_config``)."""

from __future__ import annotations

from collections.abc import Mapping

from neurarch_schemas.config import rope
from neurarch_schemas.config.derived.vocabulary import (
    DENSE,
    FULL,
    SLIDING,
    SPARSE,
    Pattern,
    constant,
    every_nth,
    first_of,
    layers,
    short,
)
from neurarch_schemas.config.derived.windows import as_written, every_nth_and_last
from neurarch_schemas.config.draft import Draft, Rule, as_integer
from neurarch_schemas.config.layer_pattern import LayerPattern
from neurarch_schemas.config.periods import placed
from neurarch_schemas.documents.json_value import JSONScalar, JSONValue


def override(draft: Draft, kinds: Pattern, kind: str, changes: Mapping[str, JSONScalar]) -> None:
    """Layers of one kind have other values of some keys."""
    for name, value in changes.items():
        common = draft.get(name)
        usual = None if isinstance(common, list | dict) else common
        draft.per_layer[name] = kinds.map(lambda item, usual=usual, value=value: value if item == kind else usual)  # type: ignore[misc]  # bound now


# Gemma 4 and its relatives.


def all_directions(draft: Draft) -> None:
    if draft.get("use_bidirectional_attention") == "all":
        draft.derive("is_causal", False, "use_bidirectional_attention")
        draft.derive("sliding_window", draft.integer("sliding_window") // 2 + 1, "half of it to each side")


def last_is_full(draft: Draft) -> None:
    """The last layer must see everything."""
    kinds = draft.pattern("layer_types")
    if kinds and kinds[kinds.length - 1] != FULL:
        value = draft.get("layer_types")
        if isinstance(value, list):
            draft.derive("layer_types", [*value[:-1], FULL], "the last layer is full_attention")
        else:
            draft.derive_pattern(
                "layer_types", kinds.with_item(kinds.length - 1, FULL), "the last layer is full_attention"
            )


def layers_by_six(draft: Draft) -> None:
    if draft.is_null("layer_types"):
        draft.derive_pattern(
            "layer_types", every_nth(6, layers(draft), FULL, SLIDING), "full_attention in every 6th layer"
        )


def layers_by_pattern(draft: Draft) -> None:
    step = draft.take_integer("sliding_window_pattern", 6)
    if draft.is_null("layer_types"):
        draft.derive_pattern("layer_types", every_nth(step, layers(draft), FULL, SLIDING), "sliding_window_pattern")


def two_ropes(full: Mapping[str, JSONValue]) -> Rule:
    def rule(draft: Draft) -> None:
        if draft.is_null("rope_parameters"):
            local: dict[str, JSONValue] = {"rope_type": "default", "rope_theta": 10000.0}
            draft.derive("rope_parameters", {SLIDING: local, FULL: dict(full)}, "default of the config class")

    return rule


def global_heads(kv_default: int | None) -> Rule:
    """Full layers have heads of ``global_head_dim`` and, where given, their own number of KV heads."""

    def rule(draft: Draft) -> None:
        size = draft.take("global_head_dim", 512)
        heads = draft.take("num_global_key_value_heads", kv_default)
        if "per_layer_config" in draft.keywords:
            return
        changes: dict[str, JSONScalar] = {"head_dim": as_integer(size)}
        shared = draft.flag("attention_k_eq_v") if draft.has("attention_k_eq_v") else True
        if heads is not None and (shared or kv_default is not None):
            changes["num_key_value_heads"] = as_integer(heads)
        override(draft, draft.pattern("layer_types"), FULL, changes)

    return rule


PROPORTIONAL: Mapping[str, JSONValue] = {
    "rope_type": "proportional",
    "partial_rotary_factor": 0.25,
    "rope_theta": 1000000.0,
}
GEMMA_4 = (all_directions, layers_by_six, last_is_full, two_ropes(PROPORTIONAL), global_heads(None))
EMBEDDING_GEMMA_2 = (
    layers_by_pattern,
    last_is_full,
    two_ropes({"rope_type": "default", "rope_theta": 1000000.0}),
    global_heads(1),
)

# NeoMME: every second sliding layer looks further.


def neomme_windows(draft: Draft) -> None:
    if "per_layer_config" not in draft.keywords:
        common = draft.get("sliding_window")
        window = None if common is None else as_integer(common)
        values: list[JSONScalar] = []
        sliding = 0
        kinds = draft.pattern("layer_types")
        short(kinds.length)
        for kind in kinds:
            values.append(None if kind == FULL else 1024 if sliding % 2 else window)
            sliding += kind == SLIDING
        draft.per_layer["sliding_window"] = LayerPattern.of(values)


def neomme_multiplier(draft: Draft) -> None:
    if draft.is_null("residual_multiplier"):
        draft.derive("residual_multiplier", (2 * layers(draft)) ** -0.5, "1 / sqrt(2 * num_hidden_layers)")


def neomme_rope(draft: Draft) -> None:
    theta = draft.take("rope_theta")
    current = draft.values.get("rope_parameters")
    parameters = rope.copy(current) if isinstance(current, dict) else {}
    thetas, fractions = {FULL: 1000000.0, SLIDING: 10000.0}, {FULL: 0.25, SLIDING: 1.0}
    for kind in draft.pattern("layer_types").counts():
        part = parameters.setdefault(str(kind), {})
        if isinstance(part, dict):
            part.setdefault("rope_type", "default")
            part.setdefault("rope_theta", theta if theta is not None else thetas.get(str(kind)))
            part.setdefault("partial_rotary_factor", fractions.get(str(kind)))
    rope.standardize(draft, parameters)


# Step 3.7

NEXT_TOKEN = "num_nextn_predict_layers"


def step3p7_lists(draft: Draft) -> None:
    """Per-layer lists may go on with the multi-token-prediction layers, which are split off."""
    count = draft.take_integer(NEXT_TOKEN, 0)
    draft.derive(NEXT_TOKEN, count, NEXT_TOKEN)
    length = layers(draft)
    padded = length + count
    if count:
        for name, rest in (
            ("layer_types", "mtp_layer_types"),
            ("mlp_layer_types", "mtp_mlp_layer_types"),
            ("swiglu_limits", None),
            ("swiglu_limits_shared", None),
        ):
            value = draft.get(name)
            if isinstance(value, list) and len(value) == padded:
                draft.derive(name, value[:length], f"without the last {count}")
                if rest:
                    draft.derive(rest, value[length:], f"the last {count} of {name}")
        for key in ("rope_theta", "partial_rotary_factors"):
            value = draft.keywords.get(key)
            if isinstance(value, list) and len(value) == padded:
                draft.keywords[key] = value[:length]
    if draft.is_null("layer_types"):
        draft.derive_pattern("layer_types", constant(FULL, length), "all layers alike")
        if count:
            draft.derive_pattern("mtp_layer_types", constant(FULL, count), "all layers alike")
    if draft.is_null("mlp_layer_types"):
        kinds = step3p7_experts(draft, padded, length)
        draft.derive_pattern("mlp_layer_types", kinds.head(length), "moe_layers_enum")
        if count:
            draft.derive_pattern("mtp_mlp_layer_types", kinds.tail(length), "moe_layers_enum")


def step3p7_experts(draft: Draft, padded: int, length: int) -> Pattern:
    listed = draft.take("moe_layers_enum")
    if listed is None:
        dense = min(3, length)
        return constant(DENSE, dense) + constant(SPARSE, length - dense) + constant(DENSE, padded - length)
    items = listed.split(",") if isinstance(listed, str) else listed
    sparse = [int(str(item)) for item in items if str(item).strip()] if isinstance(items, list) else []
    return placed(dict.fromkeys(sparse, SPARSE), padded, DENSE)


def step3p7_heads(draft: Draft) -> None:
    if draft.is_null("num_sliding_attention_heads"):
        other = draft.take("attention_other_setting")
        heads = draft.get("num_attention_heads")
        if isinstance(other, dict) and other:
            heads = other.get("num_attention_heads", heads)
        draft.derive("num_sliding_attention_heads", heads, "attention_other_setting")
    if "per_layer_config" not in draft.keywords:
        sliding = {"num_attention_heads": draft.integer("num_sliding_attention_heads")}
        override(draft, draft.pattern("layer_types"), SLIDING, sliding)
    if draft.is_null("query_pre_attn_scalar"):
        draft.derive("query_pre_attn_scalar", draft.get("head_dim"), "head_dim")


def step3p7_rope(draft: Draft) -> None:
    """A base and a rotated fraction for each layer become one set of parameters for each layer kind."""
    theta = draft.take("rope_theta", draft.type.rope_theta)
    fractions = draft.take("partial_rotary_factors")
    scaling = draft.take("rope_scaling")
    rope.convert(draft)
    given = draft.values.get("rope_parameters")
    parameters: dict[str, JSONValue] = given if isinstance(given, dict) else {}
    kinds = draft.pattern("layer_types")
    names = [str(kind) for kind in kinds.counts()]
    if all(isinstance(parameters.get(name), dict) for name in names):
        draft.derive("rope_parameters", {name: parameters[name] for name in names})
        return
    result: dict[str, JSONValue] = {}
    for name in names:
        place = first_of(kinds, name)
        part: dict[str, JSONValue] = {
            "rope_type": "default",
            "rope_theta": theta[place] if isinstance(theta, list) else theta,
        }
        if isinstance(fractions, list) and fractions:
            part["partial_rotary_factor"] = fractions[place]
        if name == FULL and isinstance(scaling, dict):
            part.update(scaling)
        result[name] = part
    draft.derive("rope_parameters", result)


# Sapiens 2: the first and last layers attend with all heads, those between share keys and values.


def sapiens2_kv_heads(draft: Draft) -> None:
    if draft.is_null("num_key_value_heads_per_layer"):
        length = layers(draft)
        first = max(0, min(draft.integer("num_first_full_attention_layers"), length))
        last = max(0, min(draft.integer("num_last_full_attention_layers"), length - first))
        heads, shared = draft.integer("num_attention_heads"), draft.integer("num_key_value_attention_heads")
        pattern = constant(heads, first) + constant(shared, length - first - last) + constant(heads, last)
        draft.derive_pattern("num_key_value_heads_per_layer", pattern, "first and last full-attention layers")


BEFORE: Mapping[str, tuple[Rule, ...]] = {
    **dict.fromkeys(("DiffusionGemmaTextConfig", "Gemma4TextConfig", "Gemma4UnifiedTextConfig"), GEMMA_4),
    "EmbeddingGemma2TextConfig": EMBEDDING_GEMMA_2,
    "NeoMMEConfig": (every_nth_and_last(6), neomme_windows, neomme_multiplier),
    "Step3p7TextConfig": (step3p7_lists, step3p7_heads),
}
ROPE: Mapping[str, tuple[Rule, ...]] = {
    **dict.fromkeys(
        ("DiffusionGemmaTextConfig", "Gemma4TextConfig", "Gemma4UnifiedTextConfig", "EmbeddingGemma2TextConfig"),
        (as_written,),
    ),
    "NeoMMEConfig": (neomme_rope,),
    "Step3p7TextConfig": (step3p7_rope,),
}
AFTER: Mapping[str, tuple[Rule, ...]] = {}
