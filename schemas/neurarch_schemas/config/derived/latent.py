"""Classes with multi-head latent attention (MLA), and those that choose positions with an index."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt

from neurarch_schemas.config import rope
from neurarch_schemas.config.derived.heads import youtu_range
from neurarch_schemas.config.derived.vocabulary import (
    FULL,
    INDEXED,
    LINEAR,
    Pattern,
    alike,
    by_index,
    constant,
    default,
    every_nth,
    first_dense,
    first_dense_by,
    kv_heads,
    latent_head_dims,
    layers,
    per_layer,
    qk_head_dim,
    same_as,
    short,
    sparse_from,
    truncated,
)
from neurarch_schemas.config.draft import Draft, Rule, as_integer
from neurarch_schemas.documents.json_value import JSONValue

COMPRESSED = "compressed_sparse_attention"
HEAVILY_COMPRESSED = "heavily_compressed_attention"

# DeepSeek-V4: how many tokens one cached entry stands for.
COMPRESSION = {0: "sliding_attention", 4: COMPRESSED, 128: HEAVILY_COMPRESSED}


def experts_by_frequency(draft: Draft) -> None:
    """Dense first, then experts in every ``moe_layer_freq``-th layer."""
    if draft.is_null("mlp_layer_types"):
        dense, step = draft.take_integer("first_k_dense_replace", 1), draft.take_integer("moe_layer_freq", 1)
        draft.derive_pattern(
            "mlp_layer_types", sparse_from(dense, step, layers(draft)), "first_k_dense_replace, moe_layer_freq"
        )


def number_of_experts(draft: Draft) -> None:
    count = draft.keywords.get("num_experts")
    if count is not None:
        draft.derive("n_routed_experts", count, "num_experts")


def index_layers(draft: Draft) -> None:
    """Which layers choose positions themselves ("full") and which reuse the last choice ("shared")."""
    if not draft.is_null("indexer_types"):
        return
    given = draft.keywords.get("index_topk_pattern")
    if isinstance(given, str):
        names = {"F": "full", "S": "shared"}
        draft.derive("indexer_types", [names[letter] for letter in given], "index_topk_pattern")
        return
    if given is not None:
        if isinstance(given, list):
            draft.derive("indexer_types", list(given), "index_topk_pattern")
        return
    step = max(as_integer(draft.keywords.get("index_topk_freq", 1)), 1)
    offset = as_integer(draft.keywords.get("index_skip_topk_offset", 2))
    start = max(offset - 1, 0)
    pattern = by_index(layers(draft), lambda i: "shared" if max(i - offset + 1, 0) % step else "full", step, start)
    draft.derive_pattern("indexer_types", pattern, "index_topk_freq, index_skip_topk_offset")


def shared_index_by_four(_: Draft, length: int) -> Pattern:
    return by_index(length, lambda i: "full" if i == 0 or (i - 1) % 4 == 0 else "shared", 4, 1)


def hy_v4_head(draft: Draft) -> None:
    draft.derive("num_key_value_heads", draft.get("num_attention_heads"), "num_attention_heads")


def default_sections(draft: Draft) -> None:
    rope.convert(draft)
    parameters = draft.values.get("rope_parameters")
    if isinstance(parameters, dict):
        draft.derive("rope_parameters", {**parameters, "mrope_section": parameters.get("mrope_section", [12, 10, 10])})


def minicpm3(draft: Draft) -> None:
    if draft.is_null("v_head_dim"):
        size = draft.integer("hidden_size") // draft.integer("num_attention_heads")
        draft.derive("v_head_dim", size, "hidden_size // num_attention_heads")
    if draft.is_null("scale_depth"):
        draft.derive("scale_depth", sqrt(draft.integer("num_hidden_layers")), "sqrt(num_hidden_layers)")


def longcat_head(draft: Draft) -> None:
    if draft.is_null("qk_head_dim"):
        qk_head_dim(draft)


def longcat_layers(draft: Draft) -> None:
    """Each block holds two attention layers; ``num_hidden_layers`` counts those."""
    if "num_hidden_layers" in draft.keywords:
        draft.derive("num_layers", as_integer(draft.take("num_hidden_layers")) // 2, "num_hidden_layers // 2")


def attention_layers(draft: Draft) -> None:
    draft.derive("num_hidden_layers", 2 * draft.integer("num_layers"), "2 * num_layers")


def mistral4_rope(draft: Draft) -> None:
    rotary = draft.integer("qk_rope_head_dim")
    size = draft.integer("qk_nope_head_dim") + rotary
    draft.derive("qk_head_dim", size, "qk_nope_head_dim + qk_rope_head_dim")
    draft.derive("head_dim", size, "qk_nope_head_dim + qk_rope_head_dim")
    given = draft.values.get("rope_parameters")
    parameters: dict[str, JSONValue] = (
        dict(given)
        if isinstance(given, dict)
        else {
            "type": "yarn",
            "rope_theta": 10000.0,
            "factor": 128.0,
            "original_max_position_embeddings": 8192,
            "max_position_embeddings": draft.get("max_position_embeddings"),
            "beta_fast": 32.0,
            "beta_slow": 1.0,
            "mscale_all_dim": 1.0,
            "mscale": 1.0,
            "llama_4_scaling_beta": 0.1,
        }
    )
    parameters.setdefault("partial_rotary_factor", rotary / size)
    draft.derive("rope_parameters", parameters)


LARGE4_ROPE: dict[str, JSONValue] = {
    "rope_type": "yarn",
    "rope_theta": 10000.0,
    "factor": 2048.0,
    "original_max_position_embeddings": 512,
    "beta_fast": 32.0,
    "beta_slow": 1.0,
    "attention_factor": 1.0,
}


def large4_layers(draft: Draft) -> None:
    length = layers(draft)
    if draft.is_null("no_rope_layers"):
        step = draft.take_integer("no_rope_layer_interval", 4)
        draft.derive_pattern(
            "no_rope_layers",
            every_nth(step, length, "0", "1").map(lambda item: int(str(item))),
            "no_rope_layer_interval",
        )
    if draft.is_null("kv_source_layers"):
        draft.derive("kv_source_layers", list(range(short(length))), "each layer its own")


def sarvam(draft: Draft) -> None:
    """Older files call YaRN "deepseek_yarn" and carry head sizes that are not used."""
    draft.take("q_head_dim")
    draft.take("head_dim")
    scaling = draft.keywords.get("rope_scaling")
    if isinstance(scaling, dict) and "deepseek_yarn" in (scaling.get("type"), scaling.get("rope_type")):
        draft.take("rope_scaling")
        kept = {key: value for key, value in scaling.items() if key != "type"}
        draft.derive("rope_parameters", {**kept, "rope_type": "yarn"})


def glm5_next_layers(draft: Draft) -> None:
    length = layers(draft)
    if draft.is_null("layer_types"):
        draft.derive_pattern("layer_types", every_nth(4, length, INDEXED, LINEAR), "every 4th layer is indexed")
        return
    kinds = draft.get("layer_types")
    if isinstance(kinds, list) and FULL in kinds:
        draft.derive(
            "layer_types", [INDEXED if kind == FULL else kind for kind in kinds], "full attention is indexed here"
        )


def glm5_next_linear(draft: Draft) -> None:
    given = draft.keywords.get("linear_attn_config")
    draft.take("head_dim")
    if not isinstance(given, dict):
        return
    for old, name in (
        ("head_dim", "linear_head_dim"),
        ("num_heads", "linear_num_heads"),
        ("short_conv_kernel_size", "linear_conv_kernel_dim"),
        ("gate_lower_bound", "linear_lower_bound"),
    ):
        if old in given:
            draft.derive(name, given[old], f"linear_attn_config.{old}")
    if given.get("safe_gate", True) and draft.is_null("linear_lower_bound"):
        draft.derive("linear_lower_bound", -5.0, "linear_attn_config.safe_gate")


# DeepSeek-V4: what the class calls defaults.
V4_RATES: dict[str, JSONValue] = {COMPRESSED: 4, HEAVILY_COMPRESSED: 128}
V4_HASH_LAYERS = 3
V4_ROTARY = 64 / 512


def deepseek_v4(draft: Draft) -> None:
    length = layers(draft)
    ratios = draft.take("compress_ratios")
    rates = draft.get("compress_rates")
    rates = dict(rates) if isinstance(rates, dict) else dict(V4_RATES)
    for key, name in (("compress_rate_csa", COMPRESSED), ("compress_rate_hca", HEAVILY_COMPRESSED)):
        rate = draft.take(key)
        if rate is not None:
            rates[name] = rate
    if rates != draft.get("compress_rates"):
        draft.derive("compress_rates", rates, "compress_rate_csa, compress_rate_hca")
    if draft.is_null("layer_types") and isinstance(ratios, list):
        draft.derive("layer_types", [COMPRESSION[as_integer(ratio)] for ratio in ratios], "compress_ratios")
    if draft.is_null("layer_types"):
        pattern = by_index(length, lambda i: HEAVILY_COMPRESSED if i < 2 or i % 2 == 0 else COMPRESSED, 2, 2)
        draft.derive_pattern("layer_types", pattern, "alternating after two heavily compressed layers")
    truncated(draft, "layer_types", length)
    hashed = draft.take("num_hash_layers")
    if draft.is_null("mlp_layer_types"):
        count = max(0, min(V4_HASH_LAYERS if hashed is None else as_integer(hashed), length))
        draft.derive_pattern(
            "mlp_layer_types", constant("hash_moe", count) + constant("moe", length - count), "num_hash_layers"
        )
    truncated(draft, "mlp_layer_types", length)


def expert_dtype(draft: Draft) -> None:
    """The quantizer looks for the experts' dtype in its own object."""
    settings, dtype = draft.values.get("quantization_config"), draft.values.get("expert_dtype")
    if isinstance(settings, dict) and dtype is not None and "expert_dtype" not in settings:
        draft.derive("quantization_config", {**settings, "expert_dtype": dtype}, "expert_dtype")


def deepseek_v4_rope(draft: Draft) -> None:
    """Two sets of RoPE parameters: one for the main attention, one for the compressed entries."""
    rotary = draft.take("qk_rope_head_dim")
    rope.convert(draft)
    if draft.is_null("partial_rotary_factor"):
        factor = V4_ROTARY if rotary is None else as_integer(rotary) / draft.integer("head_dim")
        draft.derive("partial_rotary_factor", factor, "qk_rope_head_dim / head_dim")
    factor = draft.number("partial_rotary_factor")
    draft.derive("qk_rope_head_dim", int(draft.integer("head_dim") * factor), "head_dim * partial_rotary_factor")
    given = draft.values.get("rope_parameters")
    parameters: dict[str, JSONValue] = given if isinstance(given, dict) else {}
    main, compress = parameters.get("main"), parameters.get("compress")
    if not (isinstance(main, dict) and isinstance(compress, dict)):
        main = {"rope_type": "default", "rope_theta": draft.get("rope_theta"), "partial_rotary_factor": factor}
        compress = {key: value for key, value in parameters.items() if key not in ("main", "compress")}
        compress |= {"rope_theta": draft.get("compress_rope_theta"), "partial_rotary_factor": factor}
        compress.setdefault("rope_type", "default")
        if compress["rope_type"] == "yarn":
            compress.setdefault("attention_factor", 1.0)
    draft.derive("rope_parameters", {"main": main, "compress": compress})


INDEXED_EVERYWHERE = alike("layer_types", INDEXED)
GLM_DSA = (
    index_layers,
    latent_head_dims,
    first_dense_by("first_k_dense_replace"),
    INDEXED_EVERYWHERE,
    number_of_experts,
)

BEFORE: Mapping[str, tuple[Rule, ...]] = {
    **dict.fromkeys(
        ("HYV4Config", "HYV4VLTextConfig"),
        (
            hy_v4_head,
            latent_head_dims,
            first_dense(1),
            INDEXED_EVERYWHERE,
            per_layer("indexer_types", shared_index_by_four, "every 4th layer chooses"),
        ),
    ),
    "AXK1Config": (kv_heads, latent_head_dims, experts_by_frequency),
    "AXK2Config": (latent_head_dims, experts_by_frequency, INDEXED_EVERYWHERE),
    "DeepseekV2Config": (latent_head_dims, kv_heads),
    "DeepseekV3Config": (kv_heads, latent_head_dims),
    "DeepseekV32Config": (
        latent_head_dims,
        first_dense_by("first_k_dense_replace"),
        INDEXED_EVERYWHERE,
        number_of_experts,
    ),
    "DeepseekV4Config": (deepseek_v4,),
    "Glm4MoeLiteConfig": (first_dense(1), qk_head_dim),
    "Glm5NextTextConfig": (
        kv_heads,
        first_dense(3),
        glm5_next_layers,
        index_layers,
        glm5_next_linear,
        latent_head_dims,
    ),
    "GlmMoeDsaConfig": GLM_DSA,
    "HYV3Config": (first_dense(1),),
    "LongcatFlashConfig": (longcat_layers, kv_heads, longcat_head),
    "MiniCPM3Config": (latent_head_dims, minicpm3, same_as("dim_model_base", "hidden_size"), kv_heads),
    "Mistral4Config": (kv_heads, mistral4_rope),
    "MistralLarge4TextConfig": (default("rope_parameters", LARGE4_ROPE), large4_layers, *GLM_DSA),
    "SarvamMLAConfig": (sarvam, kv_heads, latent_head_dims),
    "YoutuConfig": (youtu_range, kv_heads, latent_head_dims),
}
ROPE: Mapping[str, tuple[Rule, ...]] = {
    "DeepseekV4Config": (deepseek_v4_rope,),
    "HYV4VLTextConfig": (default_sections,),
}
AFTER: Mapping[str, tuple[Rule, ...]] = {
    "DeepseekV4Config": (expert_dtype,),
    "LongcatFlashConfig": (attention_layers,),
}
