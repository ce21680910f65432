"""MPT: ALiBi positions, LayerNorm without bias, no biases at all."""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import decoder_layer, language_model
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.attention import attention_block
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import layer_norm, linear
from neurarch_schemas.modules.tree import AttentionShape, Module

MODEL_TYPES = ("mpt",)


def build(config: ModelConfig) -> Module:
    hidden, heads = config.integer("d_model"), config.integer("n_heads")
    dim, norm = hidden // heads, layer_norm(hidden, bias=False)
    # transformers neither reads expansion_ratio nor learned_pos_emb: four times the width, and always ALiBi.
    mixer = attention_block(
        {"Wqkv": linear(hidden, 3 * hidden, bias=False), "out_proj": linear(hidden, hidden, bias=False)},
        AttentionShape(heads, heads, dim, dim, position="alibi"),
        hidden=hidden,
    )
    transform = mlp(hidden, 4 * hidden, bias=False, names=("up_proj", "down_proj"))
    block = decoder_layer(hidden, mixer, transform, norms=("norm_1", "norm_2"), norm=norm, names=("attn", "ffn"))
    return language_model(
        config,
        uniform(block, config.integer("n_layers")),
        hidden=hidden,
        norm=norm,
        names=("wte", "blocks", "norm_f"),
        prefix="transformer",
        classifier="classifier",
    )
