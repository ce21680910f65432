"""Phi-3: Llama's layer with fused query-key-value and gate-up matrices."""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import decoder_layer, language_model
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.attention import fused_attention
from neurarch_schemas.modules.feed_forward import fused_gated_mlp
from neurarch_schemas.modules.tree import Module

MODEL_TYPES = ("phi3",)


def layer(config: ModelConfig, window: int | None) -> Module:
    hidden = config.integer("hidden_size")
    mixer = fused_attention(
        hidden,
        config.integer("num_attention_heads"),
        config.optional_integer("num_key_value_heads"),
        config.optional_integer("head_dim"),
        window=window,
    )
    return decoder_layer(hidden, mixer, fused_gated_mlp(hidden, config.integer("intermediate_size")))


def build(config: ModelConfig) -> Module:
    return language_model(config, layers(config.windows(), lambda window: layer(config, window)))
