"""Molmo 2's text model: Qwen3's layer (or OLMo's QK norm), with extra rows in the token table for image tokens."""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import decoder_layer, feed_forward, language_model, self_attention
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.tree import Module

MODEL_TYPES = ("molmo2_text",)


def layer(config: ModelConfig, window: int | None) -> Module:
    mixer = self_attention(
        config,
        window,
        bias=config.flag("attention_bias"),
        out_bias=False,
        qk_norm="head" if config.get("qk_norm_type") == "qwen3" else "flat",
    )
    return decoder_layer(config.integer("hidden_size"), mixer, feed_forward(config))


def build(config: ModelConfig) -> Module:
    return language_model(
        config,
        layers(config.windows(), lambda window: layer(config, window)),
        rows=config.integer("vocab_size") + config.integer("additional_vocab_size"),
    )
