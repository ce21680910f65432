"""dots3.note: layers of one kind have their own heads and latents; older files use other names."""

from __future__ import annotations

from collections.abc import Mapping

from neurarch_schemas.config import rope
from neurarch_schemas.config.derived.per_layer import override
from neurarch_schemas.config.derived.vocabulary import (
    DENSE,
    FULL,
    INDEXED,
    SLIDING,
    SPARSE,
    by_index,
    copy_of,
    first_of,
    keyword_default,
    kv_heads,
    layers,
    renamed,
    set_head_dim,
    sparse_from,
)
from neurarch_schemas.config.draft import Draft, Rule, as_integer
from neurarch_schemas.config.layer_pattern import LayerPattern
from neurarch_schemas.documents.json_value import JSONScalar, JSONValue


def dots3_text(draft: Draft) -> None:
    dense = draft.take_integer("first_k_dense_replace", 1)
    frequency = draft.take("moe_layer_freq", 1)
    indexed = draft.take("use_dsa", None if "per_layer_config" in draft.keywords else True)
    sliding = draft.take("use_sliding_window", True)
    length = layers(draft)
    if draft.is_null("mlp_layer_types"):
        if isinstance(frequency, list):
            kinds: list[JSONValue] = [
                SPARSE if i >= dense and frequency[i] else DENSE for i in range(min(length, len(frequency)))
            ]
            draft.derive("mlp_layer_types", kinds, "moe_layer_freq")
        else:
            draft.derive_pattern(
                "mlp_layer_types",
                sparse_from(dense, as_integer(frequency), length),
                "first_k_dense_replace, moe_layer_freq",
            )
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
        parts: dict[str, JSONValue] = {
            kind: {"rope_type": "default", "rope_theta": local if kind == SLIDING else theta} for kind in kinds
        }
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
            part["partial_rotary_factor"] = size_at(draft, overrides, "qk_rope_head_dim", place) / size_at(
                draft, overrides, "head_dim", place
            )
    draft.derive("rope_parameters", parameters)


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
    for name, key, fallback in (
        ("num_experts_per_tok", "capacity_factor", 2),
        ("router_scaling_factor", "router_scale", 1.0),
    ):
        if draft.is_null(name):
            draft.derive(name, draft.keywords.get(key, fallback), key)
    if isinstance(counts, list):
        numbers = [as_integer(count) for count in counts]
        draft.derive("mlp_layer_types", [SPARSE if count > 0 else DENSE for count in numbers], "pyramid_num_routed")
        if "per_layer_config" not in draft.keywords:
            chosen, common = draft.integer("num_experts_per_tok"), draft.get("num_local_experts")
            usual = None if isinstance(common, list | dict) else common
            draft.per_layer["num_local_experts"] = LayerPattern.of(count if count > 0 else usual for count in numbers)
            draft.per_layer["num_experts_per_tok"] = LayerPattern.of(
                min(chosen, count) if count > 0 else chosen for count in numbers
            )


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
    draft.derive(
        "conv_output_size", draft.integer("downsample_hidden_size") * channels, "downsample_hidden_size * mel bins / 8"
    )
    draft.derive("samples_per_token", draft.integer("hop_length") * 8, "8 * hop_length")


BEFORE: Mapping[str, tuple[Rule, ...]] = {
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
}
ROPE: Mapping[str, tuple[Rule, ...]] = {
    "Dots3NoteTextConfig": (dots3_rope,),
}
AFTER: Mapping[str, tuple[Rule, ...]] = {}
