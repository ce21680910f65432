"""Lara Mini: gated delta nets between windowed and full attention, every layer a mixture of experts."""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import PRE_NORM, decoder_layer, language_model, self_attention
from neurarch_schemas.architectures.qwen3_next import delta_net
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.experts import fused_experts, mixture_of_experts, router, shared_experts
from neurarch_schemas.modules.tree import Module

MODEL_TYPES = ("lara_mini",)


def layer(config: ModelConfig, kind: object) -> Module:
    hidden, experts = config.integer("hidden_size"), config.integer("num_experts")
    moe = mixture_of_experts(
        hidden,
        router(hidden, experts),
        fused_experts(hidden, config.integer("moe_intermediate_size"), experts, config.integer("num_experts_per_tok")),
        extra={"shared_expert": shared_experts(hidden, config.integer("shared_expert_intermediate_size"))},
    )
    if kind == "linear_attention":
        return decoder_layer(hidden, delta_net(config), moe, norms=PRE_NORM, names=("linear_attn", "mlp"))
    window = config.optional_integer("sliding_window") if kind == "sliding_attention" else None
    return decoder_layer(
        hidden, self_attention(config, window, bias=config.flag("attention_bias"), qk_norm="head"), moe
    )


def build(config: ModelConfig) -> Module:
    return language_model(config, layers(config.layers("layer_types"), lambda kind: layer(config, kind)))
