"""Falcon: multi-query or grouped-query attention out of one matrix, feed-forward beside or behind it.

RefinedWeb and RefinedWebModel are what its first files called it, with code of their own and other key names: the
40B model's has groups of keys and values and two norms, the 7B model's one key for all.
"""

from __future__ import annotations

from neurarch_schemas.architectures import with_settings
from neurarch_schemas.architectures.decoder import PRE_NORM, decoder_layer, language_model
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.attention import attention_block
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import layer_norm, linear
from neurarch_schemas.modules.tree import AttentionShape, Module

MODEL_TYPES = ("falcon", "RefinedWeb", "RefinedWebModel")


def renamed(config: ModelConfig) -> ModelConfig:
    """The keys of the first files under their later names."""
    grouped = config.model_type == "RefinedWeb"
    heads = config.integer("n_head")
    return with_settings(
        config,
        num_attention_heads=heads,
        num_hidden_layers=config.integer("n_layer"),
        num_kv_heads=config.integer("n_head_kv", heads) if grouped else heads,
        new_decoder_architecture=grouped and config.is_set("n_head_kv"),
        tie_word_embeddings=config.flag("tie_word_embeddings", True),
    )


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
    if config.model_type != "falcon":
        config = renamed(config)
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
