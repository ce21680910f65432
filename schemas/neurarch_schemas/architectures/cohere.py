"""Cohere: attention and feed-forward side by side behind one LayerNorm without bias."""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import (
    decoder_layer,
    feed_forward,
    head_dim,
    language_model,
    self_attention,
)
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.experts import fused_experts, mixture_of_experts, router, shared_experts
from neurarch_schemas.modules.feed_forward import gated_mlp
from neurarch_schemas.modules.layers import layer_norm
from neurarch_schemas.modules.tree import Module, Stack, Tensor

MODEL_TYPES = ("cohere", "cohere2", "cohere2_moe", "cohere_compass_text")


def per_head_norm(heads: int, dim: int) -> Module:
    """LayerNorm over each head, with a weight of its own for every head."""
    return Module("LayerNorm", (Tensor("weight", (heads, dim)),), part="norm")


def mixer(config: ModelConfig, window: int | None) -> Module:
    extra: dict[str, Module | Stack | None] = {}
    if config.model_type == "cohere" and config.flag("use_qk_norm"):
        heads = config.integer("num_attention_heads")
        extra["q_norm"] = per_head_norm(heads, head_dim(config))
        extra["k_norm"] = per_head_norm(config.integer("num_key_value_heads", heads), head_dim(config))
    return self_attention(config, window, bias=config.flag("attention_bias"), extra=extra)


def moe(config: ModelConfig) -> Module:
    hidden, inner = config.integer("hidden_size"), config.integer("intermediate_size")
    experts, shared = config.integer("num_experts"), config.integer("num_shared_experts", 0)
    return mixture_of_experts(
        hidden,
        router(hidden, experts),
        fused_experts(hidden, inner, experts, config.integer("num_experts_per_tok")),
        extra={"shared_experts": shared_experts(hidden, inner * shared) if shared else None},
    )


def layer(config: ModelConfig, window: int | None, kind: object = "dense") -> Module:
    hidden = config.integer("hidden_size")
    if config.model_type != "cohere2_moe":
        transform = feed_forward(config)
    elif kind == "dense":
        inner = config.optional_integer("prefix_dense_intermediate_size")
        transform = gated_mlp(hidden, config.integer("intermediate_size") if inner is None else inner)
    else:
        transform = moe(config)
    norm = layer_norm(hidden, bias=False)
    return decoder_layer(hidden, mixer(config, window), transform, norms=("input_layernorm",), norm=norm)


def build(config: ModelConfig) -> Module:
    norm = layer_norm(config.integer("hidden_size"), bias=False)
    if config.model_type == "cohere2_moe":
        pattern = config.windows().zip(config.layers("mlp_layer_types"))
        stack = layers(pattern, lambda kind: layer(config, *kind))
    else:
        stack = layers(config.windows(), lambda window: layer(config, window))
    return language_model(config, stack, norm=norm)
