"""GPT-J and CodeGen: rotary attention and feed-forward side by side behind one LayerNorm, a head with a bias."""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import language_model
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.attention import attention, attention_block
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import layer_norm, linear
from neurarch_schemas.modules.tree import AttentionShape, Module, children

MODEL_TYPES = ("gptj", "codegen")


def mixer(config: ModelConfig) -> Module:
    hidden, heads = config.integer("n_embd"), config.integer("n_head")
    if config.model_type == "gptj":
        names = ("q_proj", "k_proj", "v_proj", "out_proj")
        return attention(hidden, heads, names=names, position="partial rope")
    dim = hidden // heads
    return attention_block(
        {"qkv_proj": linear(hidden, 3 * hidden, bias=False), "out_proj": linear(hidden, hidden, bias=False)},
        AttentionShape(heads, heads, dim, dim, position="partial rope"),
        hidden=hidden,
    )


def build(config: ModelConfig) -> Module:
    hidden = config.integer("n_embd")
    inner = config.integer("n_inner", 4 * hidden)
    block = Module(
        "Block",
        children=children(
            ln_1=layer_norm(hidden), attn=mixer(config), mlp=mlp(hidden, inner, names=("fc_in", "fc_out"))
        ),
        width_in=hidden,
        width_out=hidden,
    )
    return language_model(
        config,
        uniform(block, config.integer("n_layer")),
        hidden=hidden,
        norm=layer_norm(hidden),
        names=("wte", "h", "ln_f"),
        prefix="transformer",
        head_bias=True,
    )
