"""ViTDet (arXiv:2203.16527): a Vision Transformer with windowed blocks and relative positions."""

from __future__ import annotations

from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.layer_pattern import LayerPattern
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import convolution, layer_norm
from neurarch_schemas.modules.tree import Module, Stack, Tensor, named
from neurarch_schemas.modules.vision import fused_vision_attention, height_and_width, patch_grid

MODEL_TYPES = ("vitdet",)


def layer(config: ModelConfig, windowed: bool) -> Module:
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    attention = fused_vision_attention(hidden, heads, bias=config.flag("qkv_bias"), out_bias=True, position="relative")
    if config.flag("use_relative_position_embeddings"):
        window = config.integer("window_size")
        grid = (window, window) if windowed and window else patch_grid(config)
        tables = zip(("rel_pos_h", "rel_pos_w"), grid, strict=True)
        attention = attention.with_(
            tensors=tuple(Tensor(name, (2 * size - 1, hidden // heads)) for name, size in tables)
        )
    parts: dict[str, Module | Stack | None] = {
        "norm1": layer_norm(hidden),
        "attention": attention,
        "norm2": layer_norm(hidden),
        "mlp": mlp(hidden, int(hidden * config.number("mlp_ratio"))),
    }
    return Module("EncoderLayer", children=named(parts))


def build(config: ModelConfig) -> Module:
    if head_name(config.architecture) not in ("Model", "Backbone"):
        raise unknown_head(config.architecture)
    if config.get("residual_block_indices"):
        raise CannotBuild("residual blocks are not known", ("residual_block_indices",))
    hidden, count = config.integer("hidden_size"), config.integer("num_hidden_layers")
    pattern = LayerPattern.constant(False, count)
    for index in config.integers("window_block_indices"):
        pattern = pattern.with_item(index, True)
    rows, columns = patch_grid(config, image="pretrain_image_size")
    absolute = config.flag("use_absolute_position_embeddings")
    tensors = (Tensor("position_embeddings", (1, rows * columns + 1, hidden)),) if absolute else ()
    projection = convolution(config.integer("num_channels"), hidden, height_and_width(config, "patch_size"))
    parts: dict[str, Module | Stack | None] = {
        "embeddings": Module("Embeddings", tensors, named({"projection": projection}), part="embedding"),
        "encoder.layer": layers(pattern, lambda windowed: layer(config, windowed)),
    }
    return Module("Model", children=named(parts))
