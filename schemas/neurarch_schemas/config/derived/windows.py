"""Derivations for layers that differ in the reach of their attention; ``sliding`` says which class uses which."""

from __future__ import annotations

from neurarch_schemas.config import rope
from neurarch_schemas.config.derived.vocabulary import (
    FULL,
    SLIDING,
    SPARSE,
    Pattern,
    by_index,
    constant,
    dense_then_sparse,
    every_nth,
    kv_heads,
    layers,
    per_layer,
)
from neurarch_schemas.config.draft import Draft, Rule, as_integer
from neurarch_schemas.config.layer_pattern import LayerPattern
from neurarch_schemas.config.periods import placed
from neurarch_schemas.documents.json_value import JSONScalar, JSONValue


def window_switch(draft: Draft) -> None:
    """No window unless ``use_sliding_window`` is on."""
    if not draft.flag("use_sliding_window"):
        draft.derive("sliding_window", None, "use_sliding_window is off")


def from_window_layers(draft: Draft, length: int) -> Pattern:
    """With a window, layers from ``max_window_layers`` on are sliding."""
    if draft.is_null("sliding_window"):
        return constant(FULL, length)
    first = max(0, min(draft.integer("max_window_layers"), length))
    return constant(FULL, first) + constant(SLIDING, length - first)


WINDOW_LAYERS = per_layer("layer_types", from_window_layers, "sliding_window from layer max_window_layers on")
QWEN2 = (window_switch, kv_heads, WINDOW_LAYERS)


def first_of_group(step: int, first: str = FULL, other: str = SLIDING) -> Rule:
    """Unless given: layers whose index is divisible by ``step`` are ``first``."""
    return per_layer(
        "layer_types",
        lambda _, length: by_index(length, lambda i: other if i % step else first, step),
        f"{first} in the first of every {step} layers",
    )


def first_of_group_by(key: str, fallback: int) -> Rule:
    def pattern(draft: Draft, length: int) -> Pattern:
        step = as_integer(draft.keywords.get(key, fallback))
        return by_index(length, lambda i: SLIDING if i % step else FULL, min(step, max(length, 1)))

    return per_layer("layer_types", pattern, f"{FULL} in the first of every {key} layers")


def counted_from_the_end(step: int) -> Rule:
    """Unless given: the last layer is full, and every ``step``-th before it."""
    return per_layer(
        "layer_types",
        lambda _, length: by_index(length, lambda i: SLIDING if (length - 1 - i) % step else FULL, step),
        f"{FULL} in every {step}th layer, counted from the last",
    )


def every_nth_and_last(step: int, other: str = SLIDING) -> Rule:
    """Unless given: every ``step``-th layer is full, and the last one."""

    def pattern(_: Draft, length: int) -> Pattern:
        return every_nth(step, length, FULL, other).with_item(length - 1, FULL)

    return per_layer("layer_types", pattern, f"{FULL} in every {step}th layer and the last")


def exaone_layers(draft: Draft) -> None:
    """Without a window nothing slides; with one, every ``sliding_window_pattern``-th layer is full."""
    if draft.is_null("sliding_window"):
        draft.derive("sliding_window_pattern", 0, "sliding_window is null")
    if draft.is_null("layer_types"):
        step = draft.integer("sliding_window_pattern")
        draft.derive_pattern("layer_types", every_nth(step, layers(draft), FULL, SLIDING), "sliding_window_pattern")


def cohere2_moe_layers(draft: Draft) -> None:
    """Two patterns: one for the dense layers in front, one for the rest."""
    dense = draft.take_integer("first_k_dense_replace", 0)
    length = layers(draft)
    if draft.is_null("layer_types"):
        front = every_nth(draft.integer("prefix_dense_sliding_window_pattern"), dense, FULL, SLIDING)
        rest = every_nth(draft.integer("sliding_window_pattern"), max(length - dense, 0), FULL, SLIDING)
        draft.derive_pattern("layer_types", front + rest, "sliding_window_pattern")
    if draft.is_null("mlp_layer_types"):
        draft.derive_pattern("mlp_layer_types", dense_then_sparse(dense, length), "first_k_dense_replace")
    if not draft.has("rope_parameters") and draft.has("rope_theta"):
        rope.standardize(draft, {})


def halved_window(draft: Draft) -> None:
    """Bidirectional attention looks half a window to each side."""
    if draft.flag("use_bidirectional_attention"):
        draft.derive("sliding_window", draft.integer("sliding_window") // 2 + 1, "half of it to each side")


def split_rope(
    theta: float,
    local_theta: float,
    global_key: str = "rope_theta",
    local_key: str = "rope_local_base_freq",
    both: bool = False,
) -> Rule:
    """One set of RoPE parameters for full and one for sliding layers; an old rope_scaling belongs to the full ones."""

    def rule(draft: Draft) -> None:
        scaling = draft.take("rope_scaling")
        current = draft.values.get("rope_parameters")
        parameters: dict[str, JSONValue] = (
            rope.copy(current)
            if isinstance(current, dict)
            else {FULL: {"rope_type": "default"}, SLIDING: {"rope_type": "default"}}
        )
        for kind in (FULL, SLIDING) if both else (FULL,):
            part = parameters.get(kind)
            if isinstance(scaling, dict) and isinstance(part, dict):
                part.update(scaling)
        for kind, key, fallback in ((FULL, global_key, theta), (SLIDING, local_key, local_theta)):
            part = parameters.get(kind)
            if part is None:
                part = parameters[kind] = {"rope_type": "default"}
            if isinstance(part, dict):
                part.setdefault("rope_theta", draft.take(key, fallback))
        rope.standardize(draft, parameters)

    return rule


def as_written(draft: Draft) -> None:
    """The class keeps its RoPE parameters as they are."""


def by_layer_type(**thetas: float) -> dict[str, JSONValue]:
    return {kind: {"rope_type": "default", "rope_theta": theta} for kind, theta in thetas.items()}


def smollm3_layers(draft: Draft) -> None:
    """Layers without RoPE may slide; every ``no_rope_layer_interval``-th layer has none."""
    no_rope_layers(draft)
    if draft.is_null("layer_types"):
        slides = draft.flag("use_sliding_window") and not draft.is_null("sliding_window")
        kinds: Pattern = draft.pattern("no_rope_layers").map(
            lambda rotated: SLIDING if slides and not rotated else FULL
        )
        draft.derive_pattern("layer_types", kinds.head(layers(draft)), "no_rope_layers")


def no_rope_layers(draft: Draft) -> None:
    if draft.is_null("no_rope_layers"):
        draft.derive_pattern(
            "no_rope_layers",
            rotated_layers(draft.integer("no_rope_layer_interval"), layers(draft)),
            "no_rope_layer_interval",
        )


def rotated_layers(step: int, length: int) -> Pattern:
    """1 where RoPE is applied, 0 in every ``step``-th layer."""
    return every_nth(step, length, "0", "1").map(lambda item: int(str(item)))


def llama4_layers(draft: Draft) -> None:
    length = layers(draft)
    if not draft.flag("no_rope_layers") and "no_rope_layers" not in draft.patterns:
        draft.derive_pattern(
            "no_rope_layers", rotated_layers(draft.integer("no_rope_layer_interval"), length), "no_rope_layer_interval"
        )
    if draft.is_null("moe_layers"):
        step = draft.integer("interleave_moe_layer_step")
        if step > 0 and length <= 4096:
            draft.derive("moe_layers", list(range(step - 1, length, step)), "interleave_moe_layer_step")
    if draft.is_null("layer_types"):
        chunked = not draft.is_null("attention_chunk_size")
        kinds: Pattern = draft.pattern("no_rope_layers").map(
            lambda rotated: "chunked_attention" if rotated and chunked else FULL
        )
        draft.derive_pattern("layer_types", kinds, "no_rope_layers")


def layer_theta(draft: Draft) -> None:
    """GraniteSWA: every layer has the common base."""
    if draft.is_null("layer_rope_theta"):
        draft.derive_pattern("layer_rope_theta", constant(base(draft), layers(draft)), "rope_theta")


def layer_theta_or_none(draft: Draft) -> None:
    """Muse: the full layers, every fourth from the last, have no RoPE (0)."""
    if draft.is_null("layer_rope_theta"):
        theta, length = base(draft), layers(draft)
        pattern = by_index(length, lambda i: theta if (length - 1 - i) % 4 else 0, 4)
        draft.derive_pattern("layer_rope_theta", pattern, "rope_theta")


def base(draft: Draft) -> float | int:
    parameters = draft.values.get("rope_parameters")
    theta = parameters.get("rope_theta") if isinstance(parameters, dict) else None
    if not isinstance(theta, int | float):
        raise ValueError("rope_theta")
    return theta


def qwen2_moe(draft: Draft) -> None:
    on = draft.flag("use_sliding_window")
    if draft.is_null("mlp_only_layers"):
        draft.derive("mlp_only_layers", [], "default of the config class")
    if not on:
        draft.derive("sliding_window", 0, "use_sliding_window is off")
    if draft.is_null("layer_types"):
        length = layers(draft)
        first = max(0, min(draft.integer("max_window_layers"), length)) if on else 0
        pattern: Pattern = LayerPattern.periodic((SLIDING, FULL), first)
        draft.derive_pattern(
            "layer_types", pattern + constant(FULL, length - first), "use_sliding_window, max_window_layers"
        )


def dory(draft: Draft) -> None:
    """Old files list attention and feed-forward blocks apart; a layer is both."""
    value = draft.get("layer_types")
    if isinstance(value, list) and "mlp" in value:
        draft.derive("layer_types", value[::2], "attention blocks only")
        for name in ("num_hidden_layers", "n_input_layers", "n_output_layers"):
            draft.derive(name, draft.integer(name) // 2, "two blocks a layer")
        if not draft.is_null("n_recurrent_layers"):
            draft.derive("n_recurrent_layers", draft.integer("n_recurrent_layers") // 2, "two blocks a layer")
    if draft.is_null("layer_types"):
        draft.derive_pattern(
            "layer_types", every_nth(4, layers(draft), FULL, SLIDING), "full_attention in every 4th layer"
        )
    if draft.is_null("n_recurrent_layers"):
        rest = draft.integer("num_hidden_layers") - draft.integer("n_input_layers") - draft.integer("n_output_layers")
        draft.derive("n_recurrent_layers", rest, "num_hidden_layers - n_input_layers - n_output_layers")
    if draft.is_null("rope_parameters"):
        thetas = {SLIDING: 10000.0, FULL: 10000000.0}
        kinds = draft.pattern("layer_types").counts()
        draft.derive(
            "rope_parameters", {str(kind): {"rope_type": "default", "rope_theta": thetas[str(kind)]} for kind in kinds}
        )


def gemma3n_lists(draft: Draft) -> None:
    length = layers(draft)
    width = draft.get("intermediate_size")
    if not isinstance(width, list):
        draft.derive_pattern(
            "intermediate_size", constant(as_integer(width), length), "intermediate_size for every layer"
        )
    if draft.is_null("layer_types"):
        draft.derive_pattern("layer_types", every_nth(5, length, FULL, SLIDING), "full_attention in every 5th layer")
    if draft.is_null("activation_sparsity_pattern"):
        sparse = 10 if length > 10 else 0
        draft.derive_pattern(
            "activation_sparsity_pattern", constant(0.95, sparse) + constant(0.0, length - sparse), "first ten layers"
        )


def mimo_window(draft: Draft) -> None:
    window = draft.keywords.get("sliding_window_size")
    if window is not None:
        draft.derive("sliding_window", as_integer(window) + 1, "sliding_window_size + 1")


def modernbert_window(draft: Draft) -> None:
    """Half of ``local_attention`` to each side."""
    draft.derive("sliding_window", draft.integer("local_attention") // 2, "local_attention // 2")


def modernbert_decoder_window(draft: Draft) -> None:
    window = draft.get("local_attention")
    draft.derive("sliding_window", as_integer(window) // 2 if window else -1, "local_attention // 2")


def ultrabert(draft: Draft) -> None:
    windows = draft.keywords.get("attention_windows")
    if "attention_windows" in draft.keywords:
        draft.take("attention_windows")
        if isinstance(windows, list):
            used = [window for window in windows if window]
            if used:
                draft.derive("sliding_window", used[0], "attention_windows")
            if draft.is_null("layer_types"):
                draft.derive("layer_types", [SLIDING if window else FULL for window in windows], "attention_windows")
    if draft.is_null("layer_types"):
        draft.derive_pattern(
            "layer_types", every_nth(3, layers(draft), FULL, SLIDING), "full_attention in every third layer"
        )
    thetas = draft.take("rope_theta")
    if isinstance(thetas, list) and draft.is_null("rope_parameters"):
        kinds = list(draft.pattern("layer_types").head(len(thetas)))
        parts = zip(kinds, thetas, strict=False)
        draft.derive(
            "rope_parameters", {str(kind): {"rope_type": "default", "rope_theta": theta} for kind, theta in parts}
        )
    if draft.is_null("rope_parameters"):
        draft.derive(
            "rope_parameters", {**by_layer_type(sliding_attention=10000.0), **by_layer_type(full_attention=2560000.0)}
        )


def inkling_layers(draft: Draft) -> None:
    """Every sixth layer is not local, unless the local ones are listed."""
    length = layers(draft)
    if draft.is_null("layer_types"):
        local = draft.get("local_layer_ids")
        if isinstance(local, list):
            kinds: dict[int, JSONScalar] = dict.fromkeys(draft.integers("local_layer_ids"), "hybrid_sliding")
            pattern: Pattern = placed(kinds, length, "hybrid")
        else:
            pattern = every_nth(6, length, "hybrid", "hybrid_sliding")
        draft.derive_pattern("layer_types", pattern, "local_layer_ids")
    if draft.is_null("mlp_layer_types"):
        dense = draft.take_integer("dense_mlp_idx", 0)
        draft.derive_pattern("mlp_layer_types", dense_then_sparse(dense, length), "dense_mlp_idx")
    width = draft.keywords.get("dense_intermediate_size")
    if width is not None:
        draft.derive("moe_intermediate_size", draft.get("intermediate_size"), "intermediate_size")
        draft.derive("intermediate_size", draft.take("dense_intermediate_size"), "dense_intermediate_size")
    draft.derive("number_of_conv_states", 4)


def inkling_loop(draft: Draft) -> None:
    loop = draft.keywords.get("loop_config")
    if isinstance(loop, dict):
        for old, name in (
            ("core_start", "loop_layer_index_start"),
            ("core_end", "loop_layer_index_end"),
            ("num_passes", "loop_num_passes"),
            ("gate_rank", "loop_gate_rank"),
        ):
            if old in loop:
                draft.derive(name, loop[old], f"loop_config.{old}")


def mellum_mtp(draft: Draft) -> None:
    count = draft.get("num_mtp_layers")
    if count:
        for name, kind in (("mtp_layer_types", SLIDING), ("mtp_mlp_layer_types", SPARSE)):
            if draft.is_null(name):
                draft.derive_pattern(name, constant(kind, as_integer(count)), "num_mtp_layers")


def flint(_: Draft, length: int) -> Pattern:
    pattern = by_index(length, lambda i: FULL if i < 2 or i % 4 == 1 else SLIDING, 4, 2)
    return pattern.with_item(length - 1, FULL)


def beam_layers(_: Draft, length: int) -> Pattern:
    return every_nth(6, length, FULL, SLIDING).with_item(length - 1, FULL)


def cohere_compass_rope(draft: Draft) -> None:
    current = draft.values.get("rope_parameters")
    parameters = rope.copy(current) if isinstance(current, dict) else {}
    kinds = draft.pattern("layer_types") if not draft.is_null("layer_types") else ()
    if any(key in kinds for key in parameters):
        parameters.pop("rope_theta", None)
        parameters.pop("rope_type", None)
    if parameters:
        rope.standardize(draft, parameters)
    else:
        draft.derive("rope_parameters", {})


def zaya_rope(draft: Draft) -> None:
    parameters = draft.values.get("rope_parameters")
    if isinstance(parameters, dict) and parameters.get("rope_type") is not None:
        draft.derive("rope_parameters", {key: part for key, part in parameters.items() if key != "rope_type"})


def drop_window_pattern(draft: Draft) -> None:
    draft.take("sliding_window_pattern")


LAGUNA_ROPE: dict[str, JSONValue] = {
    FULL: {"rope_type": "default", "rope_theta": 500000.0, "partial_rotary_factor": 0.5},
    SLIDING: {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 1.0},
}
LFM3_ROPE: dict[str, JSONValue] = {
    SLIDING: {"rope_type": "default", "rope_theta": 10000.0},
    FULL: {"rope_type": "proportional", "rope_theta": 1000000.0, "partial_rotary_factor": 0.5},
}
MIMO_ROPE: dict[str, JSONValue] = {
    FULL: {"rope_type": "default", "rope_theta": 5000000.0, "partial_rotary_factor": 0.334},
    SLIDING: {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.334},
}
ZAYA_ROPE: dict[str, JSONValue] = {
    "hybrid": {"rope_type": "default", "rope_theta": 5000000.0, "partial_rotary_factor": 0.5},
    "hybrid_sliding": {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.5},
}
CWM_ROPE: dict[str, JSONValue] = {
    "rope_theta": 1000000.0,
    "factor": 16.0,
    "high_freq_factor": 4.0,
    "low_freq_factor": 1.0,
    "original_max_position_embeddings": 8192,
    "rope_type": "llama3",
}


def zero_window_is_none(draft: Draft) -> None:
    if not draft.flag("sliding_window"):
        draft.derive("sliding_window", None)


def window_or_full(kind: str) -> Rule:
    """All layers slide when there is a window."""
    return per_layer(
        "layer_types",
        lambda draft, length: constant(FULL if draft.is_null("sliding_window") else kind, length),
        "sliding_window",
    )


def heads_everywhere(draft: Draft) -> None:
    if draft.is_null("num_attention_heads_per_layer"):
        heads = draft.integer("num_attention_heads")
        draft.derive_pattern("num_attention_heads_per_layer", constant(heads, layers(draft)), "num_attention_heads")


SPLIT_ROPE = split_rope(1000000.0, 10000.0)


def gemma3_layers(draft: Draft) -> None:
    if draft.is_null("layer_types"):
        step = as_integer(draft.keywords.get("sliding_window_pattern", 6))
        draft.derive_pattern("layer_types", every_nth(step, layers(draft), FULL, SLIDING), "sliding_window_pattern")
