"""Doge: attention with a dynamic mask, learned residual weights, optionally a huge number of one-neuron experts."""

from __future__ import annotations

from math import isqrt

from neurarch_schemas.architectures.decoder import head_dim, language_model, self_attention
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.feed_forward import gated_mlp
from neurarch_schemas.modules.layers import embedding, linear, rms_norm
from neurarch_schemas.modules.tree import Module, Routing, Tensor, children, named

MODEL_TYPES = ("doge",)


def masked_attention(config: ModelConfig) -> Module:
    kv_heads = config.integer("num_key_value_heads", config.integer("num_attention_heads"))
    bias = config.flag("attention_bias")
    block = self_attention(
        config,
        config.optional_integer("sliding_window"),
        bias=bias,
        qk_norm="head",
        extra={"dt_proj": linear(kv_heads * head_dim(config), kv_heads, bias)},
    )
    return block.with_(tensors=(Tensor("A", (kv_heads,)),))


def transform(config: ModelConfig) -> Module:
    """A gated MLP; with ``is_moe`` also experts found by two product keys, each one row of two embeddings."""
    hidden, bias = config.integer("hidden_size"), config.flag("mlp_bias")
    dense = gated_mlp(hidden, config.integer("intermediate_size"), bias)
    if not config.flag("is_moe"):
        return dense
    experts, active = config.integer("num_experts"), config.integer("num_experts_per_tok")
    neurons = embedding(experts, hidden, part="experts").with_(
        routing=Routing(experts, active), multiply_accumulates=active * hidden
    )
    gate = linear(hidden, 2 * isqrt(experts), bias=False, part="router")
    return dense.with_(
        children=(*dense.children, *named({"router_gate": gate, "down_embed": neurons, "up_embed": neurons}))
    )


def layer(config: ModelConfig) -> Module:
    hidden = config.integer("hidden_size")
    return Module(
        "DecoderLayer",
        (Tensor("input_residual", (hidden,)), Tensor("post_attention_residual", (hidden,))),
        children(
            input_layernorm=rms_norm(hidden),
            self_attn=masked_attention(config),
            post_attention_layernorm=rms_norm(hidden),
            mlp=transform(config),
        ),
    )


def build(config: ModelConfig) -> Module:
    return language_model(config, uniform(layer(config), config.integer("num_hidden_layers")))
