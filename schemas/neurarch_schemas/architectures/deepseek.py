"""DeepSeek-V2, V3, V3.2 and the models that keep their layout: multi-head latent attention, with or without experts.

``first_k_dense_replace`` or ``mlp_layer_types`` says which layers are mixtures of experts. V3.2, GLM-5 and A.X-K2 have
an indexer with index keys of its own; a layer that ``indexer_types`` calls "shared" uses the choice of the one before.
"""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import (
    PRE_NORM,
    decoder_layer,
    from_layer,
    language_model,
)
from neurarch_schemas.config.layer_pattern import LayerPattern
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.attention import latent_attention, selecting
from neurarch_schemas.modules.experts import fused_experts, mixture_of_experts, router, shared_experts
from neurarch_schemas.modules.feed_forward import gated_mlp
from neurarch_schemas.modules.layers import layer_norm, linear, rms_norm
from neurarch_schemas.modules.tree import Cache, Module, Selection, Stack, children

MODEL_TYPES = (
    "deepseek_v2",
    "deepseek_v3",
    "deepseek_v32",
    "axk1",
    "axk2",
    "glm4_moe_lite",
    "glm_moe_dsa",
    "minicpm3",
    "mistral4",
    "sarvam_mla",
    "youtu",
)

_INDEXED = ("deepseek_v32", "glm_moe_dsa", "axk2")
_DENSE = ("minicpm3", "youtu")
_NO_BALANCING_BIAS = (
    "deepseek_v2",
    "deepseek_ocr2_text",
    "unlimited_ocr_text",
    "mistral4",
    "mistral_large4_text",
)
_BIASED_EXPERTS = ("deepseek_v2", "deepseek_ocr2_text", "unlimited_ocr_text")


def indexer(config: ModelConfig) -> Module:
    """Scores every cached position for each query (DeepSeek sparse attention); caches one index key a position."""
    hidden, rank = config.integer("hidden_size"), config.integer("q_lora_rank")
    heads, dim = config.integer("index_n_heads"), config.integer("index_head_dim")
    return Module(
        "Indexer",
        children=children(
            wq_b=linear(rank, heads * dim, bias=False),
            wk=linear(hidden, dim, bias=False),
            k_norm=layer_norm(dim),
            weights_proj=linear(hidden, heads, bias=False),
        ),
        caches=(Cache("index", per_token=dim),),
    )


def self_attention(config: ModelConfig, indexed: bool) -> Module:
    heads, rank = config.integer("num_attention_heads"), config.optional_integer("q_lora_rank")
    nope, rope, value = (config.integer(key) for key in ("qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim"))
    extra: dict[str, Module | Stack | None] = {"indexer": indexer(config) if indexed else None}
    gated = config.model_type == "axk2"
    if gated:
        # Queries and an output gate come out of one matrix, which reads the latent twice.
        rank = config.integer("q_lora_rank")
        extra["q_gate_proj"] = linear(2 * rank, heads * (nope + rope + value), bias=False)
    block = latent_attention(
        config.integer("hidden_size"),
        heads,
        q_lora_rank=rank,
        kv_lora_rank=config.integer("kv_lora_rank"),
        nope_dim=nope,
        rope_dim=rope,
        v_dim=value,
        bias=config.flag("attention_bias"),
        extra=extra,
    )
    if config.model_type in _INDEXED:
        block = selecting(block, chosen_keys(config, indexed))
    return block.with_(children=tuple(item for item in block.children if item[0] != "q_b_proj")) if gated else block


def chosen_keys(config: ModelConfig, indexed: bool) -> Selection:
    """DeepSeek sparse attention (arXiv:2512.02556, section 2.1): the best of all keys; some layers share a choice."""
    width = config.integer("index_n_heads") * config.integer("index_head_dim") if indexed else 0
    return Selection(config.optional_integer("index_topk"), index_width=width)


def moe(config: ModelConfig) -> Module:
    hidden, inner = config.integer("hidden_size"), config.integer("moe_intermediate_size")
    experts = config.integer("n_routed_experts")
    balancing = None if config.model_type in _NO_BALANCING_BIAS else "e_score_correction_bias"
    return mixture_of_experts(
        hidden,
        router(hidden, experts, correction_bias=balancing),
        fused_experts(hidden, inner, experts, config.integer("num_experts_per_tok", 0)),
        extra={
            "shared_experts": shared_experts(
                hidden,
                inner * config.integer("n_shared_experts"),
                config.model_type in _BIASED_EXPERTS and config.flag("mlp_bias"),
            ),
            "post_mlp_layernorm": rms_norm(hidden) if config.model_type == "axk1" else None,
        },
    )


def gated_norm(config: ModelConfig) -> Module:
    """RMSNorm times a gate computed from its own output through ``gated_norm_rank`` dimensions."""
    hidden, rank = config.integer("hidden_size"), config.integer("gated_norm_rank")
    gate = Module("Gate", children=children(fc1=linear(hidden, rank, bias=False), fc2=linear(rank, hidden, bias=False)))
    return Module("GatedRMSNorm", children=children(norm=rms_norm(hidden), mlp=gate), part="norm")


def layer(config: ModelConfig, sparse: bool, indexed: bool) -> Module:
    hidden, kind = config.integer("hidden_size"), config.model_type
    mixer = self_attention(config, indexed)
    if sparse:
        transform = moe(config)
    else:
        bias = kind in ("deepseek_v2", "minicpm3") and config.flag("mlp_bias")
        transform = gated_mlp(hidden, config.integer("intermediate_size"), bias)
    if kind != "axk2":
        return decoder_layer(hidden, mixer, transform)
    # A.X-K2 gates the norm in front of attention, and the one behind it in mixture-of-experts layers.
    block = decoder_layer(hidden, mixer, transform, norms=())
    behind = gated_norm(config) if sparse else rms_norm(hidden)
    return block.with_(children=(*block.children, *zip(PRE_NORM, (gated_norm(config), behind), strict=True)))


def sparse_layers(config: ModelConfig) -> LayerPattern[bool]:
    length = config.integer("num_hidden_layers")
    if config.model_type in _DENSE:
        return LayerPattern.constant(False, length)
    if config.model_type in ("axk1", "axk2", "deepseek_v32", "glm4_moe_lite", "glm_moe_dsa"):
        return config.layers("mlp_layer_types").map(lambda kind: kind == "sparse")
    return from_layer(config.integer("first_k_dense_replace", 0), length)


def indexed_layers(config: ModelConfig) -> LayerPattern[bool]:
    length = config.integer("num_hidden_layers")
    if config.model_type == "glm_moe_dsa":
        return config.layers("indexer_types").map(lambda kind: kind != "shared")
    return LayerPattern.constant(config.model_type in _INDEXED, length)


def build(config: ModelConfig) -> Module:
    pattern = sparse_layers(config).zip(indexed_layers(config))
    return language_model(config, layers(pattern, lambda kind: layer(config, *kind)), question_answering_prefix="model")
