"""Lara Mini: gated delta nets between windowed and full attention, every layer a mixture of experts."""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import PRE_NORM, decoder_layer, language_model, self_attention
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.experts import fused_experts, mixture_of_experts, router, shared_experts
from neurarch_schemas.modules.layers import linear, rms_norm
from neurarch_schemas.modules.linear_attention import gated_delta_net, output_projection
from neurarch_schemas.modules.tree import Module

MODEL_TYPES = ("lara_mini",)


def delta_net(config: ModelConfig) -> Module:
    hidden = config.integer("hidden_size")
    key_heads, value_heads = config.integer("linear_num_key_heads"), config.integer("linear_num_value_heads")
    key_dim, value_dim = config.integer("linear_key_head_dim"), config.integer("linear_value_head_dim")
    keys, values = key_heads * key_dim, value_heads * value_dim
    return gated_delta_net(
        {
            "norm": rms_norm(value_dim),
            "out_proj": output_projection(value_heads, value_dim, hidden),
            "in_proj_qkv": linear(hidden, 2 * keys + values, bias=False),
            "in_proj_z": linear(hidden, values, bias=False),
            "in_proj_b": linear(hidden, value_heads, bias=False),
            "in_proj_a": linear(hidden, value_heads, bias=False),
        },
        hidden=hidden,
        key_heads=key_heads,
        value_heads=value_heads,
        key_dim=key_dim,
        value_dim=value_dim,
        kernel=config.integer("linear_conv_kernel_dim"),
    )


def layer(config: ModelConfig, kind: object) -> Module:
    hidden, experts = config.integer("hidden_size"), config.integer("num_experts")
    moe = mixture_of_experts(
        hidden,
        router(hidden, experts),
        fused_experts(hidden, config.integer("moe_intermediate_size"), experts, config.integer("num_experts_per_tok")),
        extra={"shared_expert": shared_experts(hidden, config.integer("shared_expert_intermediate_size"))},
    )
    if kind == "linear_attention":
        return decoder_layer(hidden, delta_net(config), moe, norms=PRE_NORM, names=("linear_attn", "mlp"))
    window = config.optional_integer("sliding_window") if kind == "sliding_attention" else None
    return decoder_layer(
        hidden, self_attention(config, window, bias=config.flag("attention_bias"), qk_norm="head"), moe
    )


def build(config: ModelConfig) -> Module:
    return language_model(config, layers(config.layers("layer_types"), lambda kind: layer(config, kind)))
