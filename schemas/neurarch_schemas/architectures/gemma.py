"""Gemma, Gemma 2, Gemma 3 (text) and VaultGemma: grouped-query attention with a free head size, norms on both sides."""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import (
    PRE_NORM,
    SANDWICH_NORM,
    decoder_layer,
    feed_forward,
    language_model,
    self_attention,
)
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.tree import Module

MODEL_TYPES = ("gemma", "gemma2", "gemma3_text", "vaultgemma")

_NORMS = {"gemma": PRE_NORM, "vaultgemma": ("input_layernorm", "pre_feedforward_layernorm")}


def layer(config: ModelConfig, window: int | None) -> Module:
    mixer = self_attention(
        config,
        window,
        bias=config.flag("attention_bias"),
        qk_norm="head" if config.model_type == "gemma3_text" else None,
    )
    norms = _NORMS.get(config.model_type, SANDWICH_NORM)
    return decoder_layer(config.integer("hidden_size"), mixer, feed_forward(config), norms=norms)


def build(config: ModelConfig) -> Module:
    return language_model(config, layers(config.windows(), lambda window: layer(config, window)))
