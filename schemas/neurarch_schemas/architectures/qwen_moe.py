"""Qwen2-MoE and Qwen3-MoE: sparse layers every ``decoder_sparse_step``, dense ones in ``mlp_only_layers``."""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import (
    decoder_layer,
    feed_forward,
    language_model,
    self_attention,
)
from neurarch_schemas.config.layer_pattern import LayerPattern
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.config.periods import every
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.experts import fused_experts, mixture_of_experts, router, shared_experts
from neurarch_schemas.modules.layers import linear
from neurarch_schemas.modules.tree import Module

MODEL_TYPES = ("qwen2_moe", "qwen3_moe", "qwen3_vl_moe_text", "qwen3_omni_moe_text")


def expert_count(config: ModelConfig) -> int:
    return config.integer("num_experts" if config.is_set("num_experts") else "num_local_experts")


def sparse_layers(config: ModelConfig) -> LayerPattern[bool]:
    """Which layers are mixtures of experts."""
    length = config.integer("num_hidden_layers")
    if expert_count(config) == 0:
        return LayerPattern.constant(False, length)
    step = config.integer("decoder_sparse_step", 1)
    pattern = every(step, step - 1, length, True, False)
    for index in config.integers("mlp_only_layers") if config.is_set("mlp_only_layers") else ():
        pattern = pattern.with_item(index, False)
    return pattern


def moe(config: ModelConfig) -> Module:
    hidden = config.integer("hidden_size")
    experts = expert_count(config)
    shared = None
    if config.model_type == "qwen2_moe":
        shared = {
            "shared_expert": shared_experts(hidden, config.integer("shared_expert_intermediate_size")),
            "shared_expert_gate": linear(hidden, 1, bias=False, part="shared experts"),
        }
    return mixture_of_experts(
        hidden,
        router(hidden, experts),
        fused_experts(hidden, config.integer("moe_intermediate_size"), experts, config.integer("num_experts_per_tok")),
        extra=dict(shared) if shared else None,
    )


def layer(config: ModelConfig, window: int | None, sparse: bool) -> Module:
    if config.model_type == "qwen2_moe":
        mixer = self_attention(config, window, bias=config.flag("qkv_bias", True), out_bias=False)
    else:
        mixer = self_attention(config, window, bias=config.flag("attention_bias"), qk_norm="head")
    transform = moe(config) if sparse else feed_forward(config)
    return decoder_layer(config.integer("hidden_size"), mixer, transform)


def build(config: ModelConfig) -> Module:
    pattern = config.windows().zip(sparse_layers(config))
    # The question answering class of Qwen3-MoE calls its backbone "transformer".
    answering = "transformer" if config.model_type == "qwen3_moe" else "model"
    stack = layers(pattern, lambda kind: layer(config, *kind))
    return language_model(config, stack, question_answering_prefix=answering)
