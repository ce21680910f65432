"""OLMo, OLMo 2, OLMo 3 and EXAONE 4: norms behind attention and feed-forward from the second generation on."""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import (
    POST_NORM,
    PRE_NORM,
    decoder_layer,
    feed_forward,
    language_model,
    self_attention,
)
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.layers import layer_norm, rms_norm
from neurarch_schemas.modules.tree import Module

MODEL_TYPES = ("olmo", "olmo2", "olmo3", "exaone4")


def norm(config: ModelConfig) -> Module:
    hidden = config.integer("hidden_size")
    # OLMo 1 normalizes without learned weights.
    return layer_norm(hidden, weight=False, bias=False) if config.model_type == "olmo" else rms_norm(hidden)


def layer(config: ModelConfig, window: int | None) -> Module:
    kind = config.model_type
    if kind == "exaone4":
        mixer = self_attention(config, window, qk_norm="head")
    else:
        # OLMo 2 and 3 normalize queries and keys over all heads at once.
        bias = config.flag("attention_bias")
        mixer = self_attention(config, window, bias=bias, qk_norm=None if kind == "olmo" else "flat")
    norms = PRE_NORM if kind == "olmo" else POST_NORM
    return decoder_layer(config.integer("hidden_size"), mixer, feed_forward(config), norms=norms, norm=norm(config))


def build(config: ModelConfig) -> Module:
    stack = layers(config.windows(), lambda window: layer(config, window))
    return language_model(config, stack, norm=norm(config))
