"""BitNet: Llama's layer with a norm in front of the output projections of attention and feed-forward."""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import decoder_layer, feed_forward, language_model, self_attention
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.layers import rms_norm
from neurarch_schemas.modules.tree import Module

MODEL_TYPES = ("bitnet",)


def layer(config: ModelConfig, window: int | None) -> Module:
    hidden = config.integer("hidden_size")
    mixer = self_attention(
        config, window, bias=config.flag("attention_bias"), extra={"attn_sub_norm": rms_norm(hidden)}
    )
    transform = feed_forward(config)
    norm = ("ffn_sub_norm", rms_norm(config.integer("intermediate_size")))
    return decoder_layer(hidden, mixer, transform.with_(children=(*transform.children, norm)))


def build(config: ModelConfig) -> Module:
    return language_model(config, layers(config.windows(), lambda window: layer(config, window)))
