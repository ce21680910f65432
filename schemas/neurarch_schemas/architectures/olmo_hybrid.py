"""OLMo Hybrid: three gated delta net layers (pre-norm) to one of attention (post-norm)."""

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
from neurarch_schemas.documents.json_value import JSONScalar
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.layers import linear, rms_norm
from neurarch_schemas.modules.linear_attention import gated_delta_net, output_projection
from neurarch_schemas.modules.tree import Module

MODEL_TYPES = ("olmo_hybrid",)


def delta_net(config: ModelConfig) -> Module:
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    key_heads = config.integer("linear_num_key_heads", heads)
    value_heads = config.integer("linear_num_value_heads", heads)
    key_dim = config.integer("linear_key_head_dim", int(0.75 * hidden / key_heads))
    value_dim = config.integer("linear_value_head_dim", 2 * key_dim)
    return gated_delta_net(
        {
            "q_proj": linear(hidden, key_heads * key_dim, bias=False),
            "k_proj": linear(hidden, key_heads * key_dim, bias=False),
            "v_proj": linear(hidden, value_heads * value_dim, bias=False),
            "a_proj": linear(hidden, value_heads, bias=False),
            "b_proj": linear(hidden, value_heads, bias=False),
            "g_proj": linear(hidden, value_heads * value_dim, bias=False),
            "o_norm": rms_norm(value_dim),
            "o_proj": output_projection(value_heads, value_dim, hidden),
        },
        hidden=hidden,
        key_heads=key_heads,
        value_heads=value_heads,
        key_dim=key_dim,
        value_dim=value_dim,
        kernel=config.integer("linear_conv_kernel_dim"),
    )


def layer(config: ModelConfig, kind: JSONScalar) -> Module:
    hidden = config.integer("hidden_size")
    if kind == "linear_attention":
        names = ("linear_attn", "mlp")
        return decoder_layer(hidden, delta_net(config), feed_forward(config), norms=PRE_NORM, names=names)
    attention = self_attention(config, bias=config.flag("attention_bias"), qk_norm="flat")
    return decoder_layer(hidden, attention, feed_forward(config), norms=POST_NORM)


def build(config: ModelConfig) -> Module:
    return language_model(config, layers(config.layers("layer_types"), lambda kind: layer(config, kind)))
