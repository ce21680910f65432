"""Falcon: multi-query or grouped-query attention out of one matrix, feed-forward beside or behind it."""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import PRE_NORM, decoder_layer, language_model
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.attention import attention_block
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import layer_norm, linear
from neurarch_schemas.modules.tree import AttentionShape, Module

MODEL_TYPES = ("falcon",)


def mixer(config: ModelConfig) -> Module:
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    dim, bias = hidden // heads, config.flag("bias")
    declared = config.integer("num_kv_heads", heads)
    if config.flag("new_decoder_architecture"):
        kv_heads, width = declared, (heads + 2 * declared) * dim
    elif config.flag("multi_query"):
        kv_heads, width = 1, hidden + 2 * dim
    else:
        # Without either, keys and values take as much room as queries whatever num_kv_heads says.
        kv_heads, width = declared, 3 * hidden
    position = "alibi" if config.flag("alibi") else "rope"
    return attention_block(
        {"query_key_value": linear(hidden, width, bias), "dense": linear(hidden, hidden, bias)},
        AttentionShape(heads, kv_heads, dim, dim, position=position),
        hidden=hidden,
    )


def norms(config: ModelConfig) -> tuple[str, ...]:
    if not config.flag("parallel_attn"):
        return PRE_NORM
    declared = config.optional_integer("num_ln_in_parallel_attn")
    if declared is None and config.flag("new_decoder_architecture"):
        declared = 2
    return ("ln_attn", "ln_mlp") if declared == 2 else ("input_layernorm",)


def build(config: ModelConfig) -> Module:
    hidden, bias = config.integer("hidden_size"), config.flag("bias")
    norm = layer_norm(hidden)
    inner = config.integer("ffn_hidden_size", 4 * hidden)
    transform = mlp(hidden, inner, bias, names=("dense_h_to_4h", "dense_4h_to_h"))
    block = decoder_layer(
        hidden, mixer(config), transform, norms=norms(config), norm=norm, names=("self_attention", "mlp")
    )
    return language_model(
        config,
        uniform(block, config.integer("num_hidden_layers")),
        norm=norm,
        names=("word_embeddings", "h", "ln_f"),
        prefix="transformer",
        classifier="classifier",
    )
