"""Qwen 1 and Qwen-VL, from the code that came with them: fused biased queries, keys and values, half the stated width.

Totals equal the published ones of the 1.8B, 7B, 14B and 72B models, and of Qwen-VL (9,656,935,168).
"""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import language_model
from neurarch_schemas.architectures.qwen_visual import image_encoder
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.attention import attention_block
from neurarch_schemas.modules.feed_forward import gated_mlp
from neurarch_schemas.modules.layers import linear, rms_norm
from neurarch_schemas.modules.tree import AttentionShape, Module, children

MODEL_TYPES = ("qwen",)


def size(config: ModelConfig, name: str, first_name: str) -> int:
    """A size under its later name, else under that of the first release (n_embd, n_head, ...)."""
    return config.integer(name if config.is_set(name) else first_name)


def build(config: ModelConfig) -> Module:
    hidden, heads = size(config, "hidden_size", "n_embd"), size(config, "num_attention_heads", "n_head")
    dim, bias = config.integer("kv_channels"), not config.flag("no_bias", True)
    mixer = attention_block(
        {"c_attn": linear(hidden, 3 * heads * dim), "c_proj": linear(hidden, heads * dim, bias)},
        AttentionShape(heads, heads, dim, dim, position="rope"),
        hidden=hidden,
    )
    visual = config.mapping("visual") if config.is_set("visual") else None
    inner = size(config, "intermediate_size", "ffn_hidden_size") // 2
    block = Module(
        "Block",
        children=children(
            ln_1=rms_norm(hidden),
            attn=mixer,
            ln_2=rms_norm(hidden),
            mlp=gated_mlp(hidden, inner, bias, names=("w1", "w2", "c_proj")),
        ),
        width_in=hidden,
        width_out=hidden,
    )
    return language_model(
        config,
        uniform(block, size(config, "num_hidden_layers", "n_layer")),
        hidden=hidden,
        names=("wte", "h", "ln_f"),
        prefix="transformer",
        after=None if visual is None else {"visual": image_encoder(visual)},
    )
