"""GLM 4 (dense): fused gate and up matrices; the 0414 series adds norms behind attention and feed-forward."""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import PRE_NORM, decoder_layer, language_model, self_attention
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.feed_forward import fused_gated_mlp
from neurarch_schemas.modules.tree import Module

MODEL_TYPES = ("glm", "glm4")


def layer(config: ModelConfig, window: int | None) -> Module:
    hidden = config.integer("hidden_size")
    mixer = self_attention(config, window, bias=config.flag("attention_bias"), out_bias=False, position="partial rope")
    norms = PRE_NORM
    if config.model_type == "glm4":
        norms = (*PRE_NORM, "post_self_attn_layernorm", "post_mlp_layernorm")
    return decoder_layer(hidden, mixer, fused_gated_mlp(hidden, config.integer("intermediate_size")), norms=norms)


def build(config: ModelConfig) -> Module:
    return language_model(config, layers(config.windows(), lambda window: layer(config, window)))
