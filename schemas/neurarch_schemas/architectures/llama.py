"""Llama and the models that keep its layout: pre-norm RMSNorm, rotary grouped-query attention, gated MLP."""

from __future__ import annotations

from neurarch_schemas.architectures.language_heads import with_language_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.attention import attention
from neurarch_schemas.modules.feed_forward import gated_mlp
from neurarch_schemas.modules.layers import rms_norm, token_embedding
from neurarch_schemas.modules.tree import Module, children

MODEL_TYPES = ("llama", "mistral")


def layer(config: ModelConfig, window: int | None) -> Module:
    hidden = config.integer("hidden_size")
    return Module(
        "DecoderLayer",
        children=children(
            self_attn=attention(
                hidden,
                config.integer("num_attention_heads"),
                config.optional_integer("num_key_value_heads"),
                config.optional_integer("head_dim"),
                bias=config.flag("attention_bias"),
                window=window,
            ),
            mlp=gated_mlp(hidden, config.integer("intermediate_size"), config.flag("mlp_bias")),
            input_layernorm=rms_norm(hidden),
            post_attention_layernorm=rms_norm(hidden),
        ),
    )


def build(config: ModelConfig) -> Module:
    hidden = config.integer("hidden_size")
    backbone = Module(
        "Model",
        children=children(
            embed_tokens=token_embedding(config.integer("vocab_size"), hidden),
            layers=layers(config.windows(), lambda window: layer(config, window)),
            norm=rms_norm(hidden),
        ),
    )
    return with_language_head(config, backbone, hidden=hidden)
