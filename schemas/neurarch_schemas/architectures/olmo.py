"""OLMo 2: norms behind attention and feed-forward, queries and keys normalized over all heads."""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import (
    POST_NORM,
    decoder_layer,
    feed_forward,
    language_model,
    self_attention,
)
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.tree import Module

MODEL_TYPES = ("olmo2",)


def layer(config: ModelConfig, window: int | None) -> Module:
    mixer = self_attention(config, window, bias=config.flag("attention_bias"), qk_norm="flat")
    return decoder_layer(config.integer("hidden_size"), mixer, feed_forward(config), norms=POST_NORM)


def build(config: ModelConfig) -> Module:
    return language_model(config, layers(config.windows(), lambda window: layer(config, window)))
