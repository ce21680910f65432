"""RecurrentGemma (Griffin): RG-LRU recurrent blocks with sliding-window attention in every third layer."""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import language_model
from neurarch_schemas.config.layer_pattern import LayerPattern
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.attention import attention
from neurarch_schemas.modules.feed_forward import gated_mlp
from neurarch_schemas.modules.layers import linear, rms_norm
from neurarch_schemas.modules.state_space import causal_convolution, state_caches
from neurarch_schemas.modules.tree import Module, Tensor, children

MODEL_TYPES = ("recurrent_gemma",)


def recurrent_block(config: ModelConfig) -> Module:
    """A gated branch around a causal convolution and a diagonal recurrence with block-diagonal gates."""
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    width = config.integer("lru_width", hidden)
    kernel, block = config.integer("conv1d_width"), width // heads
    recurrence = Module(
        "RG-LRU",
        (
            Tensor("recurrent_param", (width,)),
            Tensor("input_gate_weight", (heads, block, block)),
            Tensor("input_gate_bias", (heads, block)),
            Tensor("recurrent_gate_weight", (heads, block, block)),
            Tensor("recurrent_gate_bias", (heads, block)),
        ),
        multiply_accumulates=2 * heads * block * block,
    )
    return Module(
        "RecurrentBlock",
        children=children(
            linear_y=linear(hidden, width),
            linear_x=linear(hidden, width),
            linear_out=linear(width, hidden),
            conv_1d=causal_convolution(width, kernel, bias=True),
            rg_lru=recurrence,
        ),
        part="state space",
        caches=state_caches(width, kernel, width),
        width_in=hidden,
        width_out=hidden,
    )


def self_attention(config: ModelConfig) -> Module:
    return attention(
        config.integer("hidden_size"),
        config.integer("num_attention_heads"),
        config.optional_integer("num_key_value_heads"),
        config.optional_integer("head_dim"),
        bias=config.flag("attention_bias"),
        out_bias=True,
        window=config.integer("attention_window_size"),
        position="partial rope",
    )


def layer(config: ModelConfig, kind: str) -> Module:
    hidden = config.integer("hidden_size")
    return Module(
        "DecoderLayer",
        children=children(
            temporal_pre_norm=rms_norm(hidden),
            temporal_block=recurrent_block(config) if kind == "recurrent" else self_attention(config),
            channel_pre_norm=rms_norm(hidden),
            mlp_block=gated_mlp(hidden, config.integer("intermediate_size") // 2, bias=True),
        ),
    )


def build(config: ModelConfig) -> Module:
    pattern = LayerPattern.periodic(config.strings("block_types"), config.integer("num_hidden_layers"))
    return language_model(
        config, layers(pattern, lambda kind: layer(config, kind)), names=("embed_tokens", "layers", "final_norm")
    )
