"""GPT-2: learned positions, LayerNorm, and matrices stored as (in, out)."""

from __future__ import annotations

from neurarch_schemas.architectures.language_heads import head_name, label_count, sequence_summary, with_language_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import lm_head, uniform
from neurarch_schemas.modules.attention import attention_block
from neurarch_schemas.modules.layers import (
    layer_norm,
    linear,
    position_embedding,
    token_embedding,
    transposed_linear,
)
from neurarch_schemas.modules.tree import AttentionShape, Module, Stack, children

MODEL_TYPES = ("gpt2", "gpt-sw3")


def width(config: ModelConfig) -> int:
    """Decision Transformer alone calls it hidden_size."""
    return config.integer("n_embd" if config.is_set("n_embd") else "hidden_size")


def self_attention(config: ModelConfig) -> Module:
    hidden, heads = width(config), config.integer("n_head")
    dim = hidden // heads
    return attention_block(
        {"c_attn": transposed_linear(hidden, 3 * hidden), "c_proj": transposed_linear(hidden, hidden)},
        AttentionShape(heads, heads, dim, dim, position="learned"),
        hidden=hidden,
    )


def cross_attention(config: ModelConfig) -> Module:
    hidden, heads = width(config), config.integer("n_head")
    dim = hidden // heads
    return attention_block(
        {
            "c_attn": transposed_linear(hidden, 2 * hidden),
            "q_attn": transposed_linear(hidden, hidden),
            "c_proj": transposed_linear(hidden, hidden),
        },
        AttentionShape(heads, heads, dim, dim, "cross", causal=False, position="none"),
        hidden=hidden,
        caches=(),
    )


def layer(config: ModelConfig) -> Module:
    hidden = width(config)
    inner = config.integer("n_inner", 4 * hidden)
    crossed = config.flag("add_cross_attention")
    mlp = Module(
        "MLP",
        children=children(c_fc=transposed_linear(hidden, inner), c_proj=transposed_linear(inner, hidden)),
        part="feed-forward",
        width_in=hidden,
        width_out=hidden,
    )
    return Module(
        "Block",
        children=children(
            ln_1=layer_norm(hidden),
            attn=self_attention(config),
            ln_2=layer_norm(hidden),
            crossattention=cross_attention(config) if crossed else None,
            ln_cross_attn=layer_norm(hidden) if crossed else None,
            mlp=mlp,
        ),
        width_in=hidden,
        width_out=hidden,
    )


def backbone(config: ModelConfig) -> Module:
    hidden = width(config)
    blocks: Stack = uniform(layer(config), config.integer("n_layer"))
    return Module(
        "Model",
        children=children(
            wte=token_embedding(config.integer("vocab_size"), hidden),
            wpe=position_embedding(config.integer("n_positions"), hidden),
            h=blocks,
            ln_f=layer_norm(hidden),
        ),
        width_out=hidden,
    )


def build(config: ModelConfig) -> Module:
    hidden = config.integer("n_embd")
    trunk = backbone(config)
    if head_name(config.architecture) == "DoubleHeadsModel":
        tied = "transformer.wte.weight" if config.flag("tie_word_embeddings", True) else None
        return Module(
            config.architecture,
            children=children(
                transformer=trunk,
                lm_head=lm_head(hidden, config.integer("vocab_size"), tied_to=tied),
                multiple_choice_head=sequence_summary(config, hidden, 1),
            ),
        )
    if head_name(config.architecture) == "ForTokenClassification":
        return Module(
            config.architecture,
            children=children(transformer=trunk, classifier=linear(hidden, label_count(config), part="head")),
        )
    return with_language_head(config, trunk, hidden=hidden, prefix="transformer", embedding="wte.weight")
