"""EfficientNet (arXiv:1905.11946): inverted residuals with gated channels, scaled in width and depth."""

from __future__ import annotations

from math import ceil

from neurarch_schemas.architectures.image_heads import with_image_classifier
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.convolution_stages import make_divisible
from neurarch_schemas.modules.layers import batch_norm, convolution
from neurarch_schemas.modules.tree import Module, Stack, concatenate, named, stack

MODEL_TYPES = ("efficientnet",)


def scaled(config: ModelConfig, channels: int) -> int:
    return make_divisible(channels * config.number("width_coefficient"), config.integer("depth_divisor"))


def block(config: ModelConfig, inputs: int, outputs: int, kernel: int, ratio: int) -> Module:
    """The squeeze is a share of the inputs, not of the expanded channels."""
    expanded = inputs * ratio
    squeezed = max(1, int(inputs * config.number("squeeze_expansion_ratio")))
    parts: dict[str, Module | Stack | None] = {}
    if ratio != 1:
        parts["expansion.expand_conv"] = convolution(inputs, expanded, (1, 1), bias=False)
        parts["expansion.expand_bn"] = batch_norm(expanded)
    depthwise = convolution(expanded, expanded, (kernel, kernel), bias=False, groups=expanded)
    parts["depthwise_conv.depthwise_conv"] = depthwise
    parts["depthwise_conv.depthwise_norm"] = batch_norm(expanded)
    parts["squeeze_excite.reduce"] = convolution(expanded, squeezed, (1, 1))
    parts["squeeze_excite.expand"] = convolution(squeezed, expanded, (1, 1))
    parts["projection.project_conv"] = convolution(expanded, outputs, (1, 1), bias=False)
    parts["projection.project_bn"] = batch_norm(outputs)
    return Module("Block", children=named(parts), part="convolution")


def blocks(config: ModelConfig) -> tuple[Stack, int]:
    """All inverted residuals, and the channels of the last."""
    stages, outputs = [], 0
    keys = ("in_channels", "out_channels", "kernel_sizes", "expand_ratios", "num_block_repeats")
    lists = [config.integers(key) for key in keys]
    if min(map(len, lists)) < len(lists[0]):
        raise CannotBuild(f"{', '.join(keys)} must be equally long", keys)
    for source, target, kernel, ratio, repeats in zip(*lists, strict=False):
        inputs, outputs = scaled(config, source), scaled(config, target)
        count = ceil(config.number("depth_coefficient") * repeats)
        stages.append(stack(block(config, inputs, outputs, kernel, ratio), times=min(count, 1)))
        stages.append(stack(block(config, outputs, outputs, kernel, ratio), times=count - 1))
    return concatenate(*stages), outputs


def backbone(config: ModelConfig, *, with_top: bool = True) -> Module:
    """``with_top``: the widening convolution before the pooling."""
    body, outputs = blocks(config)
    stem = scaled(config, 32)
    parts: dict[str, Module | Stack | None] = {
        "embeddings.convolution": convolution(config.integer("num_channels"), stem, (3, 3), bias=False),
        "embeddings.batchnorm": batch_norm(stem),
        "encoder.blocks": body,
    }
    if with_top:
        parts["encoder.top_conv"] = convolution(outputs, scaled(config, 1280), (1, 1), bias=False)
        parts["encoder.top_bn"] = batch_norm(config.integer("hidden_dim"))
    return Module("Model", children=named(parts), part="convolution")


def build(config: ModelConfig) -> Module:
    return with_image_classifier(config, backbone(config), config.integer("hidden_dim"))
