"""GPT BigCode (StarCoder): GPT-2 with one shared key and value head and ordinary linear maps."""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import language_model
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.attention import attention_block
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import layer_norm, linear, position_embedding
from neurarch_schemas.modules.tree import AttentionShape, Module, children

MODEL_TYPES = ("gpt_bigcode",)


def self_attention(config: ModelConfig) -> Module:
    hidden, heads = config.integer("n_embd"), config.integer("n_head")
    dim = hidden // heads
    kv_heads = 1 if config.flag("multi_query") else heads
    return attention_block(
        {"c_attn": linear(hidden, hidden + 2 * kv_heads * dim), "c_proj": linear(hidden, hidden)},
        AttentionShape(heads, kv_heads, dim, dim, position="learned"),
        hidden=hidden,
    )


def cross_attention(config: ModelConfig) -> Module:
    hidden, heads = config.integer("n_embd"), config.integer("n_head")
    dim = hidden // heads
    return attention_block(
        {"c_attn": linear(hidden, 2 * hidden), "q_attn": linear(hidden, hidden), "c_proj": linear(hidden, hidden)},
        AttentionShape(heads, heads, dim, dim, "cross", causal=False, position="none"),
        hidden=hidden,
        caches=(),
    )


def layer(config: ModelConfig) -> Module:
    hidden = config.integer("n_embd")
    crossed = config.flag("add_cross_attention")
    if crossed and config.flag("multi_query"):
        keys = ("add_cross_attention", "multi_query")
        raise CannotBuild("cross attention is not implemented together with multi_query", keys)
    return Module(
        "Block",
        children=children(
            ln_1=layer_norm(hidden),
            attn=self_attention(config),
            ln_2=layer_norm(hidden),
            crossattention=cross_attention(config) if crossed else None,
            ln_cross_attn=layer_norm(hidden) if crossed else None,
            mlp=mlp(hidden, config.integer("n_inner", 4 * hidden), names=("c_fc", "c_proj")),
        ),
        width_in=hidden,
        width_out=hidden,
    )


def build(config: ModelConfig) -> Module:
    hidden = config.integer("n_embd")
    return language_model(
        config,
        uniform(layer(config), config.integer("n_layer")),
        hidden=hidden,
        norm=layer_norm(hidden),
        names=("wte", "h", "ln_f"),
        before={"wpe": position_embedding(config.integer("n_positions"), hidden)},
        prefix="transformer",
        classifier="classifier",
    )
