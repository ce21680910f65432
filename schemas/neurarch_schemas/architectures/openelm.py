"""OpenELM with the code that came with it: heads and feed-forward widths of their own in every layer.

Totals equal the published ones of the 270M (271,527,168), 450M (457,179,136), 1.1B and 3B models.
"""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import language_model
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.layer_pattern import LayerPattern
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.attention import attention_block
from neurarch_schemas.modules.feed_forward import fused_gated_mlp
from neurarch_schemas.modules.layers import linear, rms_norm
from neurarch_schemas.modules.tree import AttentionShape, Module, children

MODEL_TYPES = ("openelm",)


def divisible(size: float, divisor: int) -> int:
    """The nearest multiple of ``divisor`` which is not over a tenth below ``size``."""
    nearest = max(divisor, int(size + divisor / 2) // divisor * divisor)
    return nearest + divisor if nearest < 0.9 * size else nearest


def layer(config: ModelConfig, heads: int, kv_heads: int, multiplier: float) -> Module:
    hidden, dim = config.integer("model_dim"), config.integer("head_dim")
    norm = rms_norm(dim) if config.flag("normalize_qk_projections") else None
    mixer = attention_block(
        {
            "qkv_proj": linear(hidden, (heads + 2 * kv_heads) * dim, bias=False),
            "q_norm": norm,
            "k_norm": norm,
            "out_proj": linear(heads * dim, hidden, bias=False),
        },
        AttentionShape(heads, kv_heads, dim, dim, qk_norm=norm is not None, position="rope"),
        hidden=hidden,
    )
    inner = divisible(multiplier * hidden, config.integer("ffn_dim_divisor"))
    return Module(
        "DecoderLayer",
        children=children(
            attn=mixer.with_(problems=()),
            ffn=fused_gated_mlp(hidden, inner, names=("proj_1", "proj_2")),
            ffn_norm=rms_norm(hidden),
            attn_norm=rms_norm(hidden),
        ),
        width_in=hidden,
        width_out=hidden,
    )


def multipliers(config: ModelConfig) -> tuple[float, ...]:
    values = config.items("ffn_multipliers")
    numbers = tuple(value for value in values if isinstance(value, int | float) and not isinstance(value, bool))
    if len(numbers) != len(values):
        raise CannotBuild("ffn_multipliers must be numbers", ("ffn_multipliers",))
    return numbers


def build(config: ModelConfig) -> Module:
    if not config.flag("ffn_with_glu", True):
        raise CannotBuild("only the gated form of this feed-forward block is known", ("ffn_with_glu",))
    lists = (config.integers("num_query_heads"), config.integers("num_kv_heads"), multipliers(config))
    length = config.integer("num_transformer_layers")
    if any(len(values) != length for values in lists):
        raise CannotBuild("a list has another length than there are layers", ("num_transformer_layers",))
    pattern = LayerPattern.of(zip(*lists, strict=True))
    return language_model(
        config,
        layers(pattern, lambda kind: layer(config, *kind)),
        hidden=config.integer("model_dim"),
        names=("token_embeddings", "layers", "norm"),
        prefix="transformer",
        tied=config.flag("share_input_output_layers", True),
    )
