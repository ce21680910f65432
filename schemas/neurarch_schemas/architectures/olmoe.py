"""OLMoE and FlexOlmo: every layer a mixture of experts, queries and keys normalized over all heads."""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import (
    POST_NORM,
    PRE_NORM,
    decoder_layer,
    language_model,
    self_attention,
)
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.experts import fused_experts, mixture_of_experts, router
from neurarch_schemas.modules.tree import Module

MODEL_TYPES = ("olmoe", "flex_olmo")


def layer(config: ModelConfig, window: int | None) -> Module:
    hidden, experts = config.integer("hidden_size"), config.integer("num_experts")
    moe = mixture_of_experts(
        hidden,
        router(hidden, experts),
        fused_experts(hidden, config.integer("intermediate_size"), experts, config.integer("num_experts_per_tok")),
    )
    mixer = self_attention(config, window, bias=config.flag("attention_bias"), qk_norm="flat")
    return decoder_layer(hidden, mixer, moe, norms=PRE_NORM if config.model_type == "olmoe" else POST_NORM)


def build(config: ModelConfig) -> Module:
    return language_model(config, layers(config.windows(), lambda window: layer(config, window)))
