"""Mixtures of experts with an output gate on attention and norms around both blocks: AFMoE and Beam."""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import (
    PRE_NORM,
    SANDWICH_NORM,
    decoder_layer,
    feed_forward,
    from_layer,
    head_dim,
    language_model,
    self_attention,
)
from neurarch_schemas.config.layer_pattern import LayerPattern
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.experts import fused_experts, mixture_of_experts, router, shared_experts
from neurarch_schemas.modules.layers import linear
from neurarch_schemas.modules.tree import Module, Tensor, children

MODEL_TYPES = ("afmoe", "beam")


def mixer(config: ModelConfig, window: int | None) -> Module:
    heads = config.integer("num_attention_heads")
    gate = linear(config.integer("hidden_size"), heads * head_dim(config), bias=False)
    block = self_attention(
        config, window, bias=config.flag("attention_bias"), qk_norm="head", extra={"gate_proj": gate}
    )
    return block.with_(tensors=(Tensor("gate_bias", (heads,)),)) if config.model_type == "beam" else block


def moe(config: ModelConfig) -> Module:
    hidden, inner = config.integer("hidden_size"), config.integer("moe_intermediate_size")
    total = config.integer("num_experts")
    experts = fused_experts(hidden, inner, total, config.integer("num_experts_per_tok"))
    if config.model_type == "beam":
        return mixture_of_experts(hidden, router(hidden, total, correction_bias="e_score_correction_bias"), experts)
    shared = shared_experts(hidden, inner * config.integer("num_shared_experts"))
    block = mixture_of_experts(
        hidden,
        Module("Router", children=children(gate=linear(hidden, total, bias=False)), part="router"),
        experts,
        names=("router", "experts"),
        extra={"shared_experts": shared},
    )
    # AFMoE's balancing bias is a parameter that is not trained, not a buffer.
    return block.with_(tensors=(Tensor("expert_bias", (total,)),))


def layer(config: ModelConfig, window: int | None, sparse: bool) -> Module:
    norms = SANDWICH_NORM
    if config.model_type == "afmoe":
        norms = (*PRE_NORM, "pre_mlp_layernorm", "post_mlp_layernorm")
    transform = moe(config) if sparse else feed_forward(config)
    return decoder_layer(config.integer("hidden_size"), mixer(config, window), transform, norms=norms)


def sparse_layers(config: ModelConfig) -> LayerPattern[bool]:
    if config.model_type == "beam":
        return config.layers("mlp_layer_types").map(lambda kind: kind == "sparse")
    return from_layer(config.integer("num_dense_layers"), config.integer("num_hidden_layers"))


def build(config: ModelConfig) -> Module:
    pattern = config.windows().zip(sparse_layers(config))
    return language_model(config, layers(pattern, lambda kind: layer(config, *kind)))
