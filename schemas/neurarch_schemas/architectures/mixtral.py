"""Mixtral and MiniMax M2: attention as in Llama, every feed-forward block a mixture of experts (fused in version 5)."""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import decoder_layer, language_model, self_attention
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.experts import fused_experts, mixture_of_experts, router
from neurarch_schemas.modules.tree import Module

MODEL_TYPES = ("mixtral", "minimax_m2")


def layer(config: ModelConfig, window: int | None) -> Module:
    hidden = config.integer("hidden_size")
    experts = config.integer("num_local_experts")
    minimax = config.model_type == "minimax_m2"
    moe = mixture_of_experts(
        hidden,
        router(hidden, experts),
        fused_experts(hidden, config.integer("intermediate_size"), experts, config.integer("num_experts_per_tok")),
        correction_bias="e_score_correction_bias" if minimax else None,
    )
    # MiniMax M2 normalizes queries and keys over all heads at once.
    return decoder_layer(hidden, self_attention(config, window, qk_norm="flat" if minimax else None), moe)


def build(config: ModelConfig) -> Module:
    return language_model(
        config,
        layers(config.windows(), lambda window: layer(config, window)),
        question_answering_prefix="model",
    )
