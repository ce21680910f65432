"""Aria's text model: Llama's attention, every layer a mixture of experts stored as (experts, in, out)."""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import decoder_layer, language_model, self_attention
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.experts import fused_experts, mixture_of_experts, router, shared_experts
from neurarch_schemas.modules.tree import Module

MODEL_TYPES = ("aria_text",)


def layer(config: ModelConfig, window: int | None) -> Module:
    hidden, inner = config.integer("hidden_size"), config.integer("intermediate_size")
    experts = config.integer("moe_num_experts")
    shared = shared_experts(hidden, inner * config.integer("moe_num_shared_experts"), config.flag("mlp_bias"))
    moe = mixture_of_experts(
        hidden,
        router(hidden, experts),
        fused_experts(hidden, inner, experts, config.integer("moe_topk"), transposed=True),
        names=("router", "experts"),
        extra={"shared_experts": shared},
    )
    return decoder_layer(hidden, self_attention(config, window, bias=config.flag("attention_bias")), moe)


def build(config: ModelConfig) -> Module:
    return language_model(config, layers(config.windows(), lambda window: layer(config, window)))
