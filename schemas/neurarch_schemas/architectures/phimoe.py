"""Phi-3.5-MoE: Mixtral's layer with LayerNorm."""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import decoder_layer, language_model, self_attention
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.experts import fused_experts, mixture_of_experts, router
from neurarch_schemas.modules.layers import layer_norm
from neurarch_schemas.modules.tree import Module

MODEL_TYPES = ("phimoe",)


def layer(config: ModelConfig, window: int | None) -> Module:
    hidden, experts = config.integer("hidden_size"), config.integer("num_local_experts")
    moe = mixture_of_experts(
        hidden,
        router(hidden, experts),
        fused_experts(hidden, config.integer("intermediate_size"), experts, config.integer("num_experts_per_tok")),
        names=("router", "experts"),
    )
    mixer = self_attention(config, window, bias=config.flag("attention_bias"))
    return decoder_layer(hidden, mixer, moe, norm=layer_norm(hidden))


def build(config: ModelConfig) -> Module:
    stack = layers(config.windows(), lambda window: layer(config, window))
    norm = layer_norm(config.integer("hidden_size"))
    return language_model(config, stack, norm=norm, head_bias=config.flag("lm_head_bias"))
