"""Helium: Llama's layer; the output projection is hidden x hidden whatever the head size."""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import decoder_layer, feed_forward, head_dim, language_model
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.attention import attention_block, width_problem
from neurarch_schemas.modules.layers import linear
from neurarch_schemas.modules.tree import AttentionShape, Module

MODEL_TYPES = ("helium",)


def layer(config: ModelConfig, window: int | None) -> Module:
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    kv_heads, dim = config.integer("num_key_value_heads", heads), head_dim(config)
    bias = config.flag("attention_bias")
    mixer = attention_block(
        {
            "q_proj": linear(hidden, heads * dim, bias),
            "k_proj": linear(hidden, kv_heads * dim, bias),
            "v_proj": linear(hidden, kv_heads * dim, bias),
            "o_proj": linear(hidden, hidden, bias=False),
        },
        AttentionShape(heads, kv_heads, dim, dim, "full" if window is None else "sliding", window, position="rope"),
        hidden=hidden,
    )
    mixer = mixer.with_(problems=(*mixer.problems, *width_problem(heads * dim, hidden)))
    return decoder_layer(hidden, mixer, feed_forward(config, bias=config.flag("mlp_bias")))


def build(config: ModelConfig) -> Module:
    return language_model(config, layers(config.windows(), lambda window: layer(config, window)))
