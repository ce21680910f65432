"""Phi-3-small, with the code that came with it: a fused query-key-value matrix, GEGLU, LayerNorm, biases throughout.

Its block-sparse layers keep all keys and values. The total of the 7B model equals the published 7,392,272,384.
"""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import decoder_layer, language_model
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.attention import fused_attention
from neurarch_schemas.modules.feed_forward import fused_gated_mlp
from neurarch_schemas.modules.layers import layer_norm
from neurarch_schemas.modules.tree import Module

MODEL_TYPES = ("phi3small",)


def build(config: ModelConfig) -> Module:
    hidden, norm = config.integer("hidden_size"), layer_norm(config.integer("hidden_size"))
    if config.text("hidden_act", "gegelu") != "gegelu":
        raise CannotBuild("only the gegelu form of this feed-forward block is known", ("hidden_act",))
    mixer = fused_attention(
        hidden,
        config.integer("num_attention_heads"),
        config.integer("num_key_value_heads"),
        bias=True,
        names=("query_key_value", "dense"),
    )
    transform = fused_gated_mlp(hidden, config.integer("ff_intermediate_size"), True, names=("up_proj", "down_proj"))
    blocks = uniform(decoder_layer(hidden, mixer, transform, norm=norm), config.integer("num_hidden_layers"))
    return language_model(
        config,
        blocks,
        norm=norm,
        names=("embed_tokens", "layers", "final_layernorm"),
        tied=config.flag("tie_word_embeddings", True),
    )
