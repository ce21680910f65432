"""BLOOM: ALiBi positions, fused query-key-value matrix, a norm behind the embedding."""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import decoder_layer, language_model
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.attention import attention_block
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import layer_norm, linear
from neurarch_schemas.modules.tree import AttentionShape, Module

MODEL_TYPES = ("bloom",)


def build(config: ModelConfig) -> Module:
    hidden, heads = config.integer("hidden_size"), config.integer("n_head")
    dim, norm = hidden // heads, layer_norm(hidden)
    mixer = attention_block(
        {"query_key_value": linear(hidden, 3 * hidden), "dense": linear(hidden, hidden)},
        AttentionShape(heads, heads, dim, dim, position="alibi"),
        hidden=hidden,
    )
    transform = mlp(hidden, 4 * hidden, names=("dense_h_to_4h", "dense_4h_to_h"))
    block = decoder_layer(hidden, mixer, transform, norm=norm, names=("self_attention", "mlp"))
    return language_model(
        config,
        uniform(block, config.integer("n_layer")),
        norm=norm,
        names=("word_embeddings", "h", "ln_f"),
        before={"word_embeddings_layernorm": norm},
        prefix="transformer",
        classifier="classifier",
    )
