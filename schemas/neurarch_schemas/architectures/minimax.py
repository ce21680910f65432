"""MiniMax-Text-01 and M1: lightning (linear) attention with softmax attention in between, experts in every layer.

The decay tables of lightning attention are persistent buffers of the class.
"""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import decoder_layer, language_model
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.documents.json_value import JSONScalar
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.attention import attention
from neurarch_schemas.modules.experts import fused_experts, mixture_of_experts, router
from neurarch_schemas.modules.layers import linear, rms_norm
from neurarch_schemas.modules.linear_attention import linear_attention
from neurarch_schemas.modules.tree import Cache, Module, Tensor

MODEL_TYPES = ("minimax",)


def head_dim(config: ModelConfig) -> int:
    """A head_dim of 0 or null means hidden size over heads."""
    return config.integer("head_dim", 0) or config.integer("hidden_size") // config.integer("num_attention_heads")


def decay_tables(heads: int, block: int) -> tuple[Tensor, ...]:
    return (
        Tensor("slope_rate", (heads, 1, 1), "buffer"),
        Tensor("query_decay", (heads, block, 1), "buffer"),
        Tensor("key_decay", (heads, block, 1), "buffer"),
        Tensor("diagonal_decay", (1, heads, block, block), "buffer"),
    )


def lightning_attention(hidden: int, heads: int, dim: int, decays: tuple[Tensor, ...] = ()) -> Module:
    return linear_attention(
        decays,
        {
            "norm": rms_norm(heads * dim),
            "qkv_proj": linear(hidden, 3 * heads * dim, bias=False),
            "out_proj": linear(heads * dim, hidden, bias=False),
            "output_gate": linear(hidden, heads * dim, bias=False),
        },
        hidden=hidden,
        key_heads=heads,
        value_heads=heads,
        key_dim=dim,
        value_dim=dim,
        caches=(Cache("recurrent", constant=heads * dim * dim),),
        type="LightningAttention",
    )


def layer(config: ModelConfig, kind: JSONScalar) -> Module:
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    kv_heads = config.optional_integer("num_key_value_heads")
    experts = config.integer("num_local_experts")
    mixer = (
        lightning_attention(hidden, heads, head_dim(config), decay_tables(heads, config.integer("block_size")))
        if kind == "linear_attention"
        else attention(hidden, heads, kv_heads, head_dim(config), position="partial rope")
    )
    return decoder_layer(
        hidden,
        mixer,
        mixture_of_experts(
            hidden,
            router(hidden, experts),
            fused_experts(hidden, config.integer("intermediate_size"), experts, config.integer("num_experts_per_tok")),
        ),
    )


def build(config: ModelConfig) -> Module:
    blocks = layers(config.layers("layer_types"), lambda kind: layer(config, kind))
    return language_model(config, blocks, question_answering_prefix="model")
