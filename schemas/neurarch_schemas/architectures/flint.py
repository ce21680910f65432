"""Flint, Kolibri 1 and Laguna: sliding and full attention layers with normed queries and keys, experts."""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import PRE_NORM, decoder_layer, feed_forward, head_dim, language_model
from neurarch_schemas.architectures.qwen3_next import sparse_by_step
from neurarch_schemas.config.layer_pattern import LayerPattern
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.config.periods import constant
from neurarch_schemas.documents.json_value import JSONScalar
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.attention import attention
from neurarch_schemas.modules.experts import fused_experts, mixture_of_experts, router, shared_experts
from neurarch_schemas.modules.layers import linear, rms_norm
from neurarch_schemas.modules.tree import Module, Stack, Tensor

MODEL_TYPES = ("flint", "kolibri1", "laguna")

_NORMS = {"kolibri1": (*PRE_NORM, "post_self_attn_layernorm", "post_mlp_layernorm")}


def self_attention(config: ModelConfig, kind: JSONScalar, heads: int) -> Module:
    """Flint has attention sinks; Laguna gates the output, by head or by channel, and varies heads by layer."""
    hidden, dim = config.integer("hidden_size"), head_dim(config)
    extra: dict[str, Module | Stack | None] = {"q_norm": rms_norm(dim), "k_norm": rms_norm(dim)}
    if config.model_type == "laguna":
        by_head = config.get("gating") in (True, "per-head")
        extra["g_proj"] = linear(hidden, heads if by_head else heads * dim, bias=False)
    block = attention(
        hidden,
        heads,
        config.optional_integer("num_key_value_heads"),
        dim,
        bias=config.model_type != "kolibri1" and config.flag("attention_bias"),
        extra=extra,
        window=config.optional_integer("sliding_window") if kind == "sliding_attention" else None,
        qk_norm=True,
    )
    return block.with_(tensors=(Tensor("sinks", (heads,)),)) if config.model_type == "flint" else block


def mixture(config: ModelConfig) -> Module:
    hidden, experts = config.integer("hidden_size"), config.integer("num_experts")
    # Flint has no balancing bias; Laguna's is a parameter that is not trained, Kolibri's a buffer.
    gate = router(
        hidden, experts, correction_bias="e_score_correction_bias" if config.model_type == "kolibri1" else None
    )
    if config.model_type == "laguna":
        gate = gate.with_(tensors=(*gate.tensors, Tensor("e_score_correction_bias", (experts,))))
    shared = "shared_expert" if config.model_type == "flint" else "shared_experts"
    return mixture_of_experts(
        hidden,
        gate,
        fused_experts(hidden, config.integer("moe_intermediate_size"), experts, config.integer("num_experts_per_tok")),
        extra={shared: shared_experts(hidden, config.integer("shared_expert_intermediate_size"))},
    )


def sparse_layers(config: ModelConfig) -> LayerPattern[bool]:
    if config.model_type == "flint":
        return sparse_by_step(config)
    if config.model_type == "laguna":
        return config.layers("mlp_layer_types").map(lambda kind: kind == "sparse")
    return constant(True, config.integer("num_hidden_layers"))


def heads_by_layer(config: ModelConfig) -> LayerPattern[JSONScalar]:
    if config.model_type == "laguna" and config.is_set("num_attention_heads_per_layer"):
        return config.layers("num_attention_heads_per_layer")
    heads: JSONScalar = config.integer("num_attention_heads")
    return constant(heads, config.integer("num_hidden_layers"))


def layer(config: ModelConfig, kind: JSONScalar, sparse: bool, heads: JSONScalar) -> Module:
    count = heads if isinstance(heads, int) else config.integer("num_attention_heads")
    return decoder_layer(
        config.integer("hidden_size"),
        self_attention(config, kind, count),
        mixture(config) if sparse else feed_forward(config),
        norms=_NORMS.get(config.model_type, PRE_NORM),
    )


def build(config: ModelConfig) -> Module:
    pattern = config.layers("layer_types").zip(sparse_layers(config)).zip(heads_by_layer(config))
    return language_model(config, layers(pattern, lambda kind: layer(config, *kind[0], kind[1])))
