"""Classes in which layers of one kind have other sizes than the rest (``per_layer_config``)."""

from __future__ import annotations

from collections.abc import Mapping

from neurarch_schemas.config import rope
from neurarch_schemas.config.derived.sliding import as_written, every_nth_and_last
from neurarch_schemas.config.derived.vocabulary import (
    DENSE,
    FULL,
    INDEXED,
    SLIDING,
    SPARSE,
    Pattern,
    by_index,
    constant,
    copy_of,
    every_nth,
    keyword_default,
    kv_heads,
    layers,
    renamed,
    set_head_dim,
    sparse_from,
)
from neurarch_schemas.config.draft import Draft, Rule, Unusable, as_integer, layer_items
from neurarch_schemas.config.layer_pattern import LayerPattern
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
            draft.derive_pattern("layer_types", kinds.with_item(kinds.length - 1, FULL), "the last layer is full_attention")


def layers_by_six(draft: Draft) -> None:
    if draft.is_null("layer_types"):
        draft.derive_pattern("layer_types", every_nth(6, layers(draft), FULL, SLIDING), "full_attention in every 6th layer")


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
        window = draft.integer("sliding_window")
        values: list[JSONScalar] = []
        sliding = 0
        kinds = draft.pattern("layer_types")
        for kind in kinds.head(4096):
            values.append(None if kind == FULL else 1024 if sliding % 2 else window)
            sliding += kind == SLIDING
        draft.per_layer["sliding_window"] = LayerPattern.of(values)
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


# dots3.note


def dots3_text(draft: Draft) -> None:
    dense = draft.take_integer("first_k_dense_replace", 1)
    frequency = draft.take("moe_layer_freq", 1)
    indexed = draft.take("use_dsa", None if "per_layer_config" in draft.keywords else True)
    sliding = draft.take("use_sliding_window", True)
    length = layers(draft)
    if draft.is_null("mlp_layer_types"):
        if isinstance(frequency, list):
            kinds: list[JSONValue] = [SPARSE if i >= dense and frequency[i] else DENSE for i in range(min(length, len(frequency)))]
            draft.derive("mlp_layer_types", kinds, "moe_layer_freq")
        else:
            draft.derive_pattern("mlp_layer_types", sparse_from(dense, as_integer(frequency), length), "first_k_dense_replace, moe_layer_freq")
    if "moe_shared_expert_intermediate_size" in draft.keywords:
        draft.derive("shared_experts_intermediate_size", draft.take("moe_shared_expert_intermediate_size"))
    kv_heads(draft)
    if draft.is_null("sliding_window"):
        draft.derive("sliding_window", draft.take("sliding_window_size", 512), "sliding_window_size")
    if draft.is_null("layer_types"):
        full = FULL if indexed is False else INDEXED
        pattern = by_index(length, lambda i: full if not sliding or i < 2 or i % 4 == 1 else SLIDING, 4, 2)
        draft.derive_pattern("layer_types", pattern, "use_dsa, use_sliding_window")
    if indexed is not None:
        old, new = (FULL, INDEXED) if indexed else (INDEXED, FULL)
        value = draft.get("layer_types")
        if isinstance(value, list) and old in value:
            draft.derive("layer_types", [new if kind == old else kind for kind in value], "use_dsa")
    dots3_sliding(draft)


def dots3_sliding(draft: Draft) -> None:
    """Sliding layers have heads and latents of their own (keys ``swa_...``)."""
    sizes = {
        "num_attention_heads": 64,
        "num_key_value_heads": 64,
        "q_lora_rank": 1024,
        "kv_lora_rank": 1024,
        "head_dim": 256,
        "qk_nope_head_dim": 192,
        "v_head_dim": 128,
    }
    changes: dict[str, JSONScalar] = {name: as_integer(draft.take(f"swa_{name}", size)) for name, size in sizes.items()}
    rest = as_integer(changes["head_dim"]) - as_integer(changes["qk_nope_head_dim"])
    changes["qk_rope_head_dim"] = as_integer(draft.take("swa_qk_rope_head_dim", rest))
    if "per_layer_config" not in draft.keywords:
        override(draft, draft.pattern("layer_types"), SLIDING, changes)


def dots3_rope(draft: Draft) -> None:
    """One set of RoPE parameters a layer kind; the rotated fraction follows from the head sizes of that kind."""
    local = draft.take("swa_rope_theta", 50000.0)
    theta = draft.keywords.get("rope_theta", draft.type.rope_theta)
    kinds = [str(kind) for kind in draft.pattern("layer_types").counts()]
    if draft.is_null("rope_parameters"):
        scaling = draft.take("rope_scaling")
        parts: dict[str, JSONValue] = {kind: {"rope_type": "default", "rope_theta": local if kind == SLIDING else theta} for kind in kinds}
        draft.derive("rope_parameters", scaling if isinstance(scaling, dict) and scaling else parts)
    given = draft.values.get("rope_parameters")
    if isinstance(given, dict) and not rope.nested_keys(draft, given):
        draft.derive("rope_parameters", {kind: dict(given) for kind in kinds})
    rope.convert(draft)
    given = draft.values.get("rope_parameters")
    if not isinstance(given, dict):
        return
    parameters = rope.copy(given)
    overrides = draft.keywords.get("per_layer_config")
    for kind in kinds:
        part = parameters.get(kind)
        if isinstance(part, dict):
            place = first_of(draft.pattern("layer_types"), kind)
            part["partial_rotary_factor"] = size_at(draft, overrides, "qk_rope_head_dim", place) / size_at(draft, overrides, "head_dim", place)
    draft.derive("rope_parameters", parameters)


def first_of(kinds: Pattern, kind: str) -> int:
    place = 0
    for run in kinds.runs:
        if kind in run.period:
            return place + run.period.index(kind)
        place += run.length
    raise Unusable(kind)


def size_at(draft: Draft, overrides: JSONValue, name: str, place: int) -> int:
    """The value of a size in one layer."""
    if isinstance(overrides, dict):
        for key, changes in overrides.items():
            if int(key) == place and isinstance(changes, dict) and name in changes:
                return as_integer(changes[name])
        return draft.integer(name)
    if name in draft.per_layer:
        return as_integer(draft.per_layer[name][place])
    return draft.integer(name)


def dots3_vision(draft: Draft) -> None:
    """A pyramid of experts: ``pyramid_num_routed`` counts those of each layer, -1 is a dense layer."""
    counts = draft.take("pyramid_num_routed")
    if counts is None and draft.is_null("mlp_layer_types"):
        counts = [*[-1] * 25, *range(4, 65, 4), 64]
    for name, key, fallback in (("num_experts_per_tok", "capacity_factor", 2), ("router_scaling_factor", "router_scale", 1.0)):
        if draft.is_null(name):
            draft.derive(name, draft.keywords.get(key, fallback), key)
    if isinstance(counts, list):
        numbers = [as_integer(count) for count in counts]
        draft.derive("mlp_layer_types", [SPARSE if count > 0 else DENSE for count in numbers], "pyramid_num_routed")
        if "per_layer_config" not in draft.keywords:
            chosen, common = draft.integer("num_experts_per_tok"), draft.get("num_local_experts")
            usual = None if isinstance(common, list | dict) else common
            draft.per_layer["num_local_experts"] = LayerPattern.of(count if count > 0 else usual for count in numbers)
            draft.per_layer["num_experts_per_tok"] = LayerPattern.of(min(chosen, count) if count > 0 else chosen for count in numbers)


# dots3.note's audio encoder once was described as a Whisper.
WHISPER_NAMES = {
    "d_model": "hidden_size",
    "encoder_attention_heads": "num_attention_heads",
    "encoder_layers": "num_hidden_layers",
    "encoder_ffn_dim": "intermediate_size",
    "num_mel_bins": "feature_size",
    "max_source_positions": "max_position_embeddings",
    "dropout": "dropout",
    "attention_dropout": "attention_dropout",
}


def dots3_audio(draft: Draft) -> None:
    for old in ("whisper_adapter_out_dim", "adapter_output_size"):
        if old in draft.keywords:
            draft.derive("adapter_out_dim", draft.take(old), old)
            draft.take("adapter_output_size")
    whisper = draft.take("whisper_config")
    if isinstance(whisper, dict):
        for old, name in WHISPER_NAMES.items():
            if old in whisper:
                draft.derive(name, whisper[old], f"whisper_config.{old}")
    channels = (draft.integer("feature_size") + 7) // 8
    draft.derive("conv_output_size", draft.integer("downsample_hidden_size") * channels, "downsample_hidden_size * mel bins / 8")
    draft.derive("samples_per_token", draft.integer("hop_length") * 8, "8 * hop_length")


# Step 3.7

NEXT_TOKEN = "num_nextn_predict_layers"


def step3p7_lists(draft: Draft) -> None:
    """Per-layer lists may go on with the multi-token-prediction layers, which are split off."""
    count = draft.take_integer(NEXT_TOKEN, 0)
    draft.derive(NEXT_TOKEN, count, NEXT_TOKEN)
    length = layers(draft)
    padded = length + count
    if count:
        for name, rest in (("layer_types", "mtp_layer_types"), ("mlp_layer_types", "mtp_mlp_layer_types"), ("swiglu_limits", None), ("swiglu_limits_shared", None)):
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
    kinds = constant(DENSE, padded)
    for item in items if isinstance(items, list) else []:
        if str(item).strip():
            kinds = kinds.with_item(int(str(item)), SPARSE)
    return kinds


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
        part: dict[str, JSONValue] = {"rope_type": "default", "rope_theta": theta[place] if isinstance(theta, list) else theta}
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


def layer_names(value: JSONValue) -> list[JSONScalar]:
    return layer_items(value) if isinstance(value, list) else []


BEFORE: Mapping[str, tuple[Rule, ...]] = {
    **dict.fromkeys(("DiffusionGemmaTextConfig", "Gemma4TextConfig", "Gemma4UnifiedTextConfig"), GEMMA_4),
    "EmbeddingGemma2TextConfig": EMBEDDING_GEMMA_2,
    "NeoMMEConfig": (every_nth_and_last(6), neomme_windows),
    "Dots3NoteTextConfig": (dots3_text,),
    "Dots3NoteVisionConfig": (
        dots3_vision,
        renamed("embed_dim", "hidden_size"),
        renamed("num_heads", "num_attention_heads"),
        renamed("use_bias", "attention_bias"),
    ),
    "Dots3NoteAudioConfig": (
        renamed("whisper_adapter_in_dim", "adapter_input_size"),
        dots3_audio,
        set_head_dim,
        copy_of("num_key_value_heads", "num_attention_heads"),
        keyword_default("partial_rotary_factor", 0.5),
    ),
    "Step3p7TextConfig": (step3p7_lists, step3p7_heads),
}
ROPE: Mapping[str, tuple[Rule, ...]] = {
    **dict.fromkeys(
        ("DiffusionGemmaTextConfig", "Gemma4TextConfig", "Gemma4UnifiedTextConfig", "EmbeddingGemma2TextConfig"),
        (as_written,),
    ),
    "NeoMMEConfig": (neomme_rope,),
    "Dots3NoteTextConfig": (dots3_rope,),
    "Step3p7TextConfig": (step3p7_rope,),
}
AFTER: Mapping[str, tuple[Rule, ...]] = {}
