"""Moshi: a decoder over text tokens within a sliding window, beside which a codec and a depth decoder speak.

Only the language model alone (MoshiForCausalLM, MoshiModel) is built: the whole needs a codec. The output head is never
tied, and the embedding has one row more than the head.
"""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import decoder_layer
from neurarch_schemas.architectures.language_heads import with_language_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.attention import attention_block
from neurarch_schemas.modules.layers import linear, rms_norm, token_embedding
from neurarch_schemas.modules.tree import AttentionShape, Module, children

MODEL_TYPES = ("moshi",)


def wrapped(inputs: int, outputs: int) -> Module:
    return Module("MoshiLinear", children=children(linear=linear(inputs, outputs, bias=False)))


def layer(config: ModelConfig) -> Module:
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    kv_heads = config.integer("num_key_value_heads", heads)
    dim = config.integer("head_dim", 0) or hidden // heads
    inner, window = config.integer("ffn_dim"), config.optional_integer("sliding_window")
    mixer = attention_block(
        {
            "q_proj": wrapped(hidden, heads * dim),
            "k_proj": wrapped(hidden, kv_heads * dim),
            "v_proj": wrapped(hidden, kv_heads * dim),
            "o_proj": wrapped(heads * dim, hidden),
        },
        AttentionShape(heads, kv_heads, dim, dim, "full" if window is None else "sliding", window, position="rope"),
        hidden=hidden,
    )
    # Gate and value come out of the first map, so it is ffn_dim wide and the second reads half of that.
    transform = Module(
        "GatedMLP",
        children=children(fc1=linear(hidden, inner, bias=False), fc2=linear(inner // 2, hidden, bias=False)),
        part="feed-forward",
    )
    return decoder_layer(hidden, mixer, transform)


def build(config: ModelConfig) -> Module:
    hidden = config.integer("hidden_size")
    backbone = Module(
        "Model",
        children=children(
            embed_tokens=token_embedding(config.integer("vocab_size") + 1, hidden),
            layers=uniform(layer(config), config.integer("num_hidden_layers")),
            norm=rms_norm(hidden),
        ),
    )
    return with_language_head(config, backbone, hidden=hidden, tied=False)
