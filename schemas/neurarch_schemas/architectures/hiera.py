"""Hiera (arXiv:2306.00989) and FocalNet (arXiv:2203.11926): hierarchical vision models."""

from __future__ import annotations

from math import prod

from neurarch_schemas.architectures.image_heads import stage_norms, with_image_classifier
from neurarch_schemas.architectures.language_heads import head_name
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import convolution, layer_norm, linear
from neurarch_schemas.modules.tree import AttentionShape, Module, Stack, Tensor, concatenate, named, stack
from neurarch_schemas.modules.vision import height_and_width, sequential

MODEL_TYPES = ("hiera", "focalnet")

MOST_STAGES = 32


def hiera_layer(config: ModelConfig, inputs: int, width: int, heads: int) -> Module:
    """The first layer of a stage widens: its attention by the fused projection, its shortcut by one of its own."""
    dim = width // heads
    attention = Module(
        "MaskUnitAttention",
        children=named({"qkv": linear(inputs, 3 * width), "proj": linear(width, width)}),
        part="attention",
        attention=AttentionShape(heads, heads, dim, dim, "encoder", causal=False, position="learned"),
        width_in=inputs,
        width_out=width,
    )
    parts: dict[str, Module | Stack | None] = {
        "layernorm_before": layer_norm(inputs),
        "attn": attention,
        "layernorm_after": layer_norm(width),
        "mlp": mlp(width, int(width * config.number("mlp_ratio"))),
        "proj": linear(inputs, width) if inputs != width else None,
    }
    return Module("HieraLayer", children=named(parts))


def hiera(config: ModelConfig, *, with_pooler: bool) -> tuple[Module, int]:
    depths, heads = config.counts("depths"), config.integers("num_heads")
    first, growth = config.integer("embed_dim"), config.number("embed_dim_multiplier")
    if len(heads) < len(depths) or len(depths) > MOST_STAGES:
        raise CannotBuild("depths and num_heads must be equally long", ("depths", "num_heads"))
    stages, inputs = [], first
    for index, depth in enumerate(depths):
        width = int(first * growth**index)
        front = stack(hiera_layer(config, inputs, width, heads[index]), times=min(depth, 1))
        rest = stack(hiera_layer(config, width, width, heads[index]), times=depth - 1)
        stages.append(Module("Stage", children=(("layers", concatenate(front, rest)),)))
        inputs = width
    sides = zip(height_and_width(config, "image_size"), height_and_width(config, "patch_stride"), strict=True)
    tokens = prod(size // stride for size, stride in sides)
    projection = convolution(config.integer("num_channels"), first, height_and_width(config, "patch_size"))
    embeddings = Module(
        "Embeddings",
        (Tensor("position_embeddings", (1, tokens, first)),),
        named({"patch_embeddings.projection": projection}),
        part="embedding",
    )
    last = int(first * growth ** (len(depths) - 1))
    parts: dict[str, Module | Stack | None] = {
        "embeddings": embeddings,
        "encoder.stages": stack(*stages),
        "pooler.layernorm": layer_norm(last) if with_pooler else None,
    }
    return Module("Model", children=named(parts)), last


def focal_layer(config: ModelConfig, width: int, level: int, window: int) -> Module:
    """Context from ever wider depth-wise convolutions, gated, in the place of attention."""
    focal = [
        sequential(convolution(width, width, (k, k), bias=False, groups=width))
        for k in range(window, window + 2 * level, 2)
    ]
    modulation: dict[str, Module | Stack | None] = {
        "projection_in": linear(width, 2 * width + level + 1),
        "projection_context": convolution(width, width, (1, 1)),
        "projection_out": linear(width, width),
        "focal_layers": stack(*focal),
        "layernorm": layer_norm(width) if config.flag("use_post_layernorm_in_modulation") else None,
    }
    scales = (Tensor("gamma_1", (width,)), Tensor("gamma_2", (width,)))
    parts: dict[str, Module | Stack | None] = {
        "norm1": layer_norm(width),
        "modulation": Module("FocalModulation", children=named(modulation), part="convolution"),
        "norm2": layer_norm(width),
        "mlp": mlp(width, int(width * config.number("mlp_ratio"))),
    }
    return Module("FocalLayer", scales if config.flag("use_layerscale") else (), named(parts))


def focalnet(config: ModelConfig, *, mask_token: bool) -> tuple[Module, int]:
    depths, width = config.counts("depths"), config.integer("embed_dim")
    levels, windows = config.integers("focal_levels"), config.integers("focal_windows")
    if min(len(levels), len(windows)) < len(depths) or len(depths) > MOST_STAGES or max((*levels, 0)) > MOST_STAGES:
        raise CannotBuild("focal_levels and focal_windows must be as long as depths", ("focal_levels", "focal_windows"))
    overlapping = config.flag("use_conv_embed")
    stages = []
    for index, depth in enumerate(depths):
        size = width * 2**index
        kernel = (3, 3) if overlapping else (2, 2)
        down = {"projection": convolution(size, 2 * size, kernel), "norm": layer_norm(2 * size)}
        last = index == len(depths) - 1
        parts: dict[str, Module | Stack | None] = {
            "layers": uniform(focal_layer(config, size, levels[index], windows[index]), depth),
            "downsample": None if last else Module("Downsample", children=named(down)),
        }
        stages.append(Module("Stage", children=named(parts)))
    kernel = (7, 7) if overlapping else height_and_width(config, "patch_size")
    final = width * 2 ** (len(depths) - 1)
    patches = convolution(config.integer("num_channels"), width, kernel)
    tensors = (Tensor("mask_token", (1, 1, width)),) if mask_token else ()
    entry = named({"patch_embeddings.projection": patches, "norm": layer_norm(width)})
    top: dict[str, Module | Stack | None] = {
        "embeddings": Module("Embeddings", tensors, entry, part="embedding"),
        "encoder.stages": stack(*stages),
        "layernorm": layer_norm(final),
    }
    return Module("Model", children=named(top)), final


def build(config: ModelConfig) -> Module:
    hierarchical, head = config.model_type == "hiera", head_name(config.architecture)
    if hierarchical and head == "Backbone":
        first, growth = config.integer("embed_dim"), config.number("embed_dim_multiplier")
        widths = tuple(int(first * growth**index) for index in range(len(config.counts("depths"))))
        model, _ = hiera(config, with_pooler=False)
        return Module("Backbone", children=(*model.children, *stage_norms(config, (first, *widths)).items()))
    if hierarchical:
        return with_image_classifier(config, *hiera(config, with_pooler=True))
    model, width = focalnet(config, mask_token=head == "ForMaskedImageModeling")
    if head == "Backbone":
        return Module("Backbone", children=(("focalnet", model),))
    if head == "ForMaskedImageModeling":
        pixels = config.integer("encoder_stride") ** 2 * config.integer("num_channels")
        decoder = convolution(width, pixels, (1, 1)).with_(part="head")
        return Module(config.architecture, children=(("focalnet", model), ("decoder.0", decoder)))
    return with_image_classifier(config, model, width)
