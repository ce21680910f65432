"""Classes with state-space, linear-attention or convolution layers, alone or between attention layers."""

from __future__ import annotations

from collections.abc import Mapping

from neurarch_schemas.catalogue.load import enumerations
from neurarch_schemas.config.derived.vocabulary import (
    FULL,
    INDEXED,
    LINEAR,
    SLIDING,
    Pattern,
    alike,
    alternating,
    alternating_by,
    auto_rank,
    by_index,
    computed,
    computed_default,
    constant,
    default,
    every_nth,
    first_dense_by,
    keyword_default,
    kv_heads,
    latent_head_dims,
    layers,
    per_layer,
    renamed,
    same_as,
    set_head_dim,
)
from neurarch_schemas.config.draft import Draft, Rule, as_integer
from neurarch_schemas.config.layer_pattern import LayerPattern
from neurarch_schemas.config.periods import placed
from neurarch_schemas.documents.json_value import JSONScalar, JSONValue

HYBRID = "hybrid"

# One letter a layer in Nemotron-H's pattern strings.
NEMOTRON_LAYERS = {"M": LINEAR, "E": "moe", "*": FULL, "-": "mlp"}


def mamba_head_size(width: str | None = None) -> Rule:
    """Mamba-2: the inner width is shared out among the heads when the head size says "auto"."""

    def rule(draft: Draft) -> None:
        if draft.get("mamba_d_head") == "auto":
            inner = draft.integer("mamba_expand") * draft.integer("hidden_size")
            if width is not None and not draft.is_null(width):
                inner = draft.integer(width)
            draft.derive("mamba_d_head", inner // draft.integer("mamba_n_heads"), "inner width // mamba_n_heads")

    return rule


def inner_width(draft: Draft) -> None:
    draft.derive(
        "intermediate_size", int(draft.number("expand") * draft.integer("hidden_size")), "expand * hidden_size"
    )


def mamba_layers(draft: Draft) -> None:
    """Read by the cache: every layer is recurrent."""
    draft.derive_pattern("layer_types", constant(LINEAR, layers(draft)), "all layers alike")


def jamba_layers(draft: Draft) -> None:
    """One attention layer in each ``attn_layer_period``."""
    period, offset = draft.integer("attn_layer_period"), draft.integer("attn_layer_offset")
    length = layers(draft)
    pattern = by_index(length, lambda i: FULL if i % period == offset else LINEAR, min(period, max(length, 1)))
    draft.derive_pattern("layer_types", pattern, "attn_layer_period, attn_layer_offset")
    names = {FULL: "attention", LINEAR: "mamba"}
    draft.derive_pattern(
        "layers_block_type", pattern.map(lambda kind: names[str(kind)]), "attn_layer_period, attn_layer_offset"
    )


def jamba_experts(draft: Draft) -> None:
    """How many experts each layer has; 1 is a plain feed-forward."""
    period, offset, length = draft.integer("expert_layer_period"), draft.integer("expert_layer_offset"), layers(draft)
    count = draft.integer("num_experts")
    pattern = by_index(length, lambda i: count if i % period == offset else 1, min(period, max(length, 1)))
    draft.derive_pattern("layers_num_experts", pattern, "expert_layer_period, expert_layer_offset")


def bamba_layers(draft: Draft) -> None:
    chosen = draft.get("attn_layer_indices")
    attending: dict[int, JSONScalar] = dict.fromkeys(draft.integers("attn_layer_indices") if chosen else (), FULL)
    pattern = placed(attending, layers(draft), LINEAR)
    draft.derive_pattern("layers_block_type", pattern, "attn_layer_indices")


def falcon_h1_layers(draft: Draft) -> None:
    draft.derive_pattern("layers_block_type", constant(HYBRID, layers(draft)), "all layers alike")


def recurrent_gemma_layers(draft: Draft) -> None:
    """``block_types`` over and over; transformers repeats it a hundred times."""
    kinds = [LINEAR if kind == "recurrent" else SLIDING for kind in draft.items("block_types")]
    pattern: Pattern = LayerPattern.periodic(kinds, min(layers(draft), 100 * len(kinds)))
    draft.derive_pattern("layers_block_type", pattern, "block_types")


def olmo_hybrid_layers(_: Draft, length: int) -> Pattern:
    pattern = every_nth(4, length, FULL, LINEAR)
    return pattern if FULL in pattern else pattern.with_item(length - 1, FULL)


def olmo_hybrid_heads(draft: Draft) -> None:
    if draft.is_null("linear_key_head_dim"):
        size = int(0.75 * draft.integer("hidden_size") / draft.integer("linear_num_key_heads"))
        draft.derive("linear_key_head_dim", size, "3/4 of hidden_size / linear_num_key_heads")
    if draft.is_null("linear_value_head_dim"):
        draft.derive("linear_value_head_dim", 2 * draft.integer("linear_key_head_dim"), "2 * linear_key_head_dim")


def linear_settings(draft: Draft) -> None:
    """Kimi's own files keep the linear-attention sizes in an object of their own."""
    given = draft.values.get("linear_attn_config")
    if isinstance(given, dict):
        for old, name in (
            ("head_dim", "linear_head_dim"),
            ("num_heads", "linear_num_heads"),
            ("short_conv_kernel_size", "linear_conv_kernel_dim"),
        ):
            if old in given:
                draft.derive(name, given[old], f"linear_attn_config.{old}")


def kimi_linear_layers(draft: Draft) -> None:
    """Layers are counted from 1 in ``linear_attn_config``."""
    if not draft.is_null("layer_types"):
        return
    given = draft.values.get("linear_attn_config")
    length = layers(draft)
    if isinstance(given, dict) and "full_attn_layers" in given and "kda_layers" in given:
        kinds: dict[int, JSONScalar] = {}
        for key, kind in (("full_attn_layers", FULL), ("kda_layers", LINEAR)):
            listed = given[key]
            for layer in listed if isinstance(listed, list) else []:
                kinds[(as_integer(layer) - 1) % max(length, 1)] = kind
        pattern: Pattern = placed(kinds, length, None)
    else:
        pattern = by_index(length, lambda i: FULL if i and i % 4 == 0 else LINEAR, 4, 1)
    draft.derive_pattern("layer_types", pattern, "linear_attn_config")


def kimi_linear_experts(draft: Draft) -> None:
    from neurarch_schemas.config.derived.vocabulary import dense_then_sparse

    if draft.is_null("mlp_layer_types"):
        dense = draft.values.get("first_k_dense_replace")
        count = as_integer(dense) if "first_k_dense_replace" in draft.values else 1
        draft.derive_pattern("mlp_layer_types", dense_then_sparse(count, layers(draft)), "first_k_dense_replace")


def lfm2_layers(draft: Draft) -> None:
    if not draft.is_null("layer_types"):
        return
    length = layers(draft)
    chosen = draft.get("full_attn_idxs")
    if chosen is None:
        pattern = constant(FULL, length)
        if length <= 4096:
            draft.derive("full_attn_idxs", list(range(length)), "all layers")
    else:
        pattern = placed(dict.fromkeys(draft.integers("full_attn_idxs"), FULL), length, "conv")
    draft.derive_pattern("layer_types", pattern, "full_attn_idxs")


def nemotron_pattern(text: JSONValue) -> list[JSONValue]:
    if isinstance(text, str):
        return [NEMOTRON_LAYERS[letter] for letter in text]
    raise ValueError(text)


def nemotron_h(draft: Draft) -> None:
    pattern = draft.keywords.get("hybrid_override_pattern")
    if "hybrid_override_pattern" in draft.keywords:
        draft.take("hybrid_override_pattern")
        if draft.is_null("layer_types"):
            draft.derive("layer_types", nemotron_pattern(pattern), "hybrid_override_pattern")
    elif draft.is_null("layer_types"):
        draft.derive("layer_types", [LINEAR, "moe", FULL, "mlp"], "default of the config class")


def nemotron_h_count(draft: Draft) -> None:
    """The list of layers decides how many there are; a written ``num_hidden_layers`` is ignored."""
    count = draft.pattern("layer_types").length
    draft.derive("num_hidden_layers", count, "length of layers_block_type")


def nemotron_mtp(draft: Draft) -> None:
    default_blocks: list[JSONValue] = [FULL, "moe"]
    value = draft.get("mtp_layers_block_type")
    if value is None:
        draft.derive("mtp_layers_block_type", default_blocks, "default of the config class")
    else:
        renamed_blocks(draft, "mtp_layers_block_type")
    pattern = draft.take("mtp_hybrid_override_pattern")
    if pattern is not None and draft.get("mtp_layers_block_type") == default_blocks:
        draft.derive("mtp_layers_block_type", nemotron_pattern(pattern), "mtp_hybrid_override_pattern")


def renamed_blocks(draft: Draft, name: str) -> None:
    names: Mapping[str, str] = enumerations()["legacy_layer_types"]
    value = draft.get(name)
    if isinstance(value, list):
        blocks: list[JSONValue] = [names.get(item, item) if isinstance(item, str) else item for item in value]
        if blocks != value:
            draft.derive(name, blocks, "older names of layer kinds replaced")


def zamba_layers(draft: Draft) -> None:
    if draft.is_null("layers_block_type"):
        length = layers(draft) - 3
        period, offset = draft.integer("attn_layer_period"), draft.integer("attn_layer_offset")
        start: Pattern = LayerPattern.of((LINEAR, LINEAR, HYBRID))
        rest = by_index(
            max(length, 0), lambda i: HYBRID if i % period == offset else LINEAR, min(period, max(length, 1))
        )
        draft.derive_pattern("layers_block_type", start + rest, "attn_layer_period, attn_layer_offset")
    else:
        renamed_blocks(draft, "layers_block_type")


def zamba2_layers(draft: Draft) -> None:
    """Without a list: the 54 layers of the released 2.7B model, whatever ``num_hidden_layers`` says."""
    if draft.is_null("layers_block_type"):
        group = [*[LINEAR] * 5, HYBRID]
        blocks: list[JSONValue] = [LINEAR, *group * 7, *[LINEAR] * 4, HYBRID, *[LINEAR] * 3, HYBRID, *[LINEAR] * 2]
        draft.derive("layers_block_type", blocks, "default of the config class")
    else:
        renamed_blocks(draft, "layers_block_type")
    blocks = draft.items("layers_block_type")
    draft.derive(
        "hybrid_layer_ids", [index for index, kind in enumerate(blocks) if kind == HYBRID], "layers_block_type"
    )


def zamba_sizes(draft: Draft) -> None:
    width = draft.integer("hidden_size")
    if not draft.flag("attention_hidden_size"):
        draft.derive("attention_hidden_size", 2 * width, "2 * hidden_size")
    if not draft.flag("attention_head_dim"):
        size = 2 * width // draft.integer("num_attention_heads")
        draft.derive("attention_head_dim", size, "2 * hidden_size // num_attention_heads")


def zamba2_sizes(draft: Draft) -> None:
    if not draft.flag("intermediate_size"):
        draft.derive("intermediate_size", 4 * draft.integer("hidden_size"), "4 * hidden_size")
    width, heads = draft.integer("hidden_size"), draft.integer("num_attention_heads")
    draft.derive("attention_hidden_size", 2 * width, "2 * hidden_size")
    draft.derive("attention_head_dim", 2 * width // heads, "2 * hidden_size // num_attention_heads")
    head = int(draft.number("mamba_expand") * width) // draft.integer("n_mamba_heads")
    draft.derive("mamba_headdim", head, "mamba_expand * hidden_size // n_mamba_heads")
    if draft.flag("use_long_context"):
        draft.derive("max_position_embeddings", 16384, "use_long_context")
    draft.derive("kv_channels", width // heads, "hidden_size // num_attention_heads")
    draft.derive("num_query_groups", heads, "num_attention_heads")


def qwen4_sizes(draft: Draft) -> None:
    chosen = draft.get("ple_layer_ids")
    kept: list[JSONValue] = [*sorted({as_integer(item) for item in chosen})] if isinstance(chosen, list) else []
    draft.derive("ple_layer_ids", kept, "sorted, each once")
    draft.derive("number_of_conv_states", 3 if kept else 1, "ple_layer_ids")


def qwen4_layers(draft: Draft) -> None:
    if draft.is_null("layer_types"):
        step = draft.take_integer("full_attention_interval", 4)
        draft.derive_pattern("layer_types", every_nth(step, layers(draft), INDEXED, LINEAR), "full_attention_interval")
        return
    kinds = draft.get("layer_types")
    if isinstance(kinds, list) and FULL in kinds:
        draft.derive(
            "layer_types", [INDEXED if kind == FULL else kind for kind in kinds], "full attention is indexed here"
        )


def bailing_layers(draft: Draft) -> None:
    for name, other in (
        ("linear_head_dim", "head_dim"),
        ("linear_num_heads", "num_attention_heads"),
        ("linear_conv_kernel_dim", "short_conv_kernel_size"),
    ):
        draft.derive(name, draft.get(other), other)


def half_rotary(draft: Draft) -> None:
    """Bamba always rotates half of each head."""
    draft.keywords["partial_rotary_factor"] = 0.5


def code_to_wave_layers(draft: Draft) -> None:
    draft.derive_pattern("layer_types", constant(SLIDING, layers(draft)), "all layers alike")


def bailing_rope(draft: Draft) -> None:
    if draft.is_null("rope_parameters"):
        draft.derive("rope_parameters", {"rope_type": "default", "rope_theta": draft.get("rope_theta")})


MAMBA = (inner_width, auto_rank("time_step_rank"), mamba_layers)
QUARTER = keyword_default("partial_rotary_factor", 0.25)
LINEAR_WITH_FULL = alternating_by("full_attention_interval", 4, FULL, LINEAR)

BEFORE: Mapping[str, tuple[Rule, ...]] = {
    **dict.fromkeys(("Qwen3_5TextConfig", "Qwen3_5MoeTextConfig"), (QUARTER, LINEAR_WITH_FULL)),
    "Qwen3NextConfig": (QUARTER, default("mlp_only_layers", []), LINEAR_WITH_FULL),
    "Qwen4ExpTextConfig": (qwen4_sizes, same_as("ple_embed_dim", "hidden_size"), qwen4_layers),
    "BailingHybridConfig": (
        bailing_layers,
        alternating_by("layer_group_size", None, FULL, LINEAR),
        first_dense_by("first_k_dense_replace"),
        bailing_rope,
        kv_heads,
        latent_head_dims,
    ),
    "BambaConfig": (kv_heads, mamba_head_size(), half_rotary, bamba_layers),
    "FalconH1Config": (
        kv_heads,
        mamba_head_size("mamba_d_ssm"),
        default("mlp_multipliers", [1.0, 1.0]),
        default("ssm_multipliers", [1.0, 1.0, 1.0, 1.0, 1.0]),
        falcon_h1_layers,
    ),
    "FalconMambaConfig": (
        computed("use_mambapy", lambda draft: draft.take("use_falcon_mambapy", False), "use_falcon_mambapy"),
        *MAMBA,
    ),
    "MambaConfig": MAMBA,
    "Mamba2Config": (auto_rank("time_step_rank"), mamba_layers),
    "GraniteMoeHybridConfig": (kv_heads, mamba_head_size(), alike("layer_types", LINEAR)),
    "JambaConfig": (kv_heads, auto_rank("mamba_dt_rank"), jamba_layers, jamba_experts),
    "KimiLinearConfig": (kv_heads, latent_head_dims),
    "LaraMiniConfig": (
        per_layer(
            "layer_types",
            lambda _, length: LayerPattern.periodic((LINEAR, SLIDING, LINEAR, FULL, SLIDING), length),
            "linear, sliding and full attention in groups of five",
        ),
    ),
    "Lfm2Config": (
        lfm2_layers,
        renamed("tie_embedding", "tie_word_embeddings"),
        renamed("block_ff_dim", "intermediate_size"),
    ),
    "Lfm2MoeConfig": (renamed("tie_embedding", "tie_word_embeddings"),),
    "Lfm3VlVisionConfig": (
        per_layer(
            "layer_types",
            lambda _, length: by_index(length, lambda i: "conv" if i < 2 or i % 2 else FULL, 2, 2),
            "full_attention in every second layer",
        ),
    ),
    "MiniMaxConfig": (kv_heads, alternating(2, LINEAR, FULL)),
    "NemotronHConfig": (
        renamed("mamba_n_groups", "n_groups"),
        renamed("mamba_d_conv", "conv_kernel"),
        renamed("mamba_expand", "expand"),
        renamed("mamba_dt_min", "time_step_min"),
        renamed("mamba_dt_max", "time_step_max"),
        renamed("mamba_dt_limit", "time_step_limit"),
        renamed("mamba_dt_init_floor", "time_step_floor"),
        renamed("mamba_conv_bias", "use_conv_bias"),
        renamed("mamba_chunk_size", "chunk_size"),
        nemotron_h,
        nemotron_mtp,
        kv_heads,
    ),
    "OlmoHybridConfig": (
        per_layer("layer_types", olmo_hybrid_layers, "full_attention in every 4th layer"),
        same_as("linear_num_key_heads", "num_attention_heads"),
        same_as("linear_num_value_heads", "num_attention_heads"),
        olmo_hybrid_heads,
        kv_heads,
    ),
    "RecurrentGemmaConfig": (
        same_as("lru_width", "hidden_size"),
        set_head_dim,
        kv_heads,
        computed(
            "final_w_init_variance_scale",
            lambda draft: 2.0 / draft.integer("num_hidden_layers"),
            "2 / num_hidden_layers",
        ),
        keyword_default("partial_rotary_factor", 0.5),
        recurrent_gemma_layers,
    ),
    "RwkvConfig": (
        same_as("attention_hidden_size", "hidden_size"),
        computed_default("intermediate_size", lambda draft: 4 * draft.integer("hidden_size"), "4 * hidden_size"),
    ),
    "ZambaConfig": (zamba_sizes, auto_rank("mamba_dt_rank"), zamba_layers),
    "Zamba2Config": (zamba2_sizes, kv_heads, zamba2_layers),
    "Qwen3OmniMoeCode2WavConfig": (code_to_wave_layers,),
}
ROPE: Mapping[str, tuple[Rule, ...]] = {}
AFTER: Mapping[str, tuple[Rule, ...]] = {
    "KimiLinearConfig": (linear_settings, kimi_linear_layers, kimi_linear_experts),
    "NemotronHConfig": (nemotron_h_count,),
}
