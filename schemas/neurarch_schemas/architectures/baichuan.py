"""Baichuan 1 and 2, from the code that came with them: Llama's layer with a fused query-key-value matrix.

Totals equal the published ones of the 7B (RoPE) and 13B (ALiBi) models. The class of the first 7B model, BaiChuan, also
stores the rotary frequencies of each layer.
"""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import decoder_layer, feed_forward, language_model
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.attention import attention_block
from neurarch_schemas.modules.layers import linear, stored_frequencies
from neurarch_schemas.modules.tree import AttentionShape, Module

MODEL_TYPES = ("baichuan",)


def build(config: ModelConfig) -> Module:
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    dim = hidden // heads
    # The 13B models declare the length that their ALiBi biases are made for under a key of its own.
    position = "alibi" if config.get("model_max_length") and not config.get("max_position_embeddings") else "rope"
    mixer = attention_block(
        {
            "W_pack": linear(hidden, 3 * hidden, bias=False),
            "o_proj": linear(heads * dim, hidden, bias=False),
            "rotary_emb": stored_frequencies(dim // 2) if config.architecture.startswith("BaiChuan") else None,
        },
        AttentionShape(heads, heads, dim, dim, position=position),
        hidden=hidden,
    )
    stack = uniform(decoder_layer(hidden, mixer, feed_forward(config)), config.integer("num_hidden_layers"))
    return language_model(config, stack)
