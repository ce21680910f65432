"""Baichuan 2, from the code that came with it: Llama's layer with a fused query-key-value matrix, a normalized head.

Totals equal the published ones of the 7B (RoPE) and 13B (ALiBi) models.
"""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import decoder_layer, feed_forward, language_model
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.attention import attention_block
from neurarch_schemas.modules.layers import linear
from neurarch_schemas.modules.tree import AttentionShape, Module

MODEL_TYPES = ("baichuan",)


def build(config: ModelConfig) -> Module:
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    dim = hidden // heads
    mixer = attention_block(
        {"W_pack": linear(hidden, 3 * hidden, bias=False), "o_proj": linear(heads * dim, hidden, bias=False)},
        AttentionShape(heads, heads, dim, dim),
        hidden=hidden,
    )
    stack = uniform(decoder_layer(hidden, mixer, feed_forward(config)), config.integer("num_hidden_layers"))
    model = language_model(config, stack)
    if config.architecture.startswith("BaiChuan"):
        # The first 7B model also stores rotary frequencies, which no published total confirms.
        reason = "Baichuan 1 brings its own code, and no published total confirms a reading of it"
        raise CannotBuild(reason, ("architectures",), model)
    return model
