"""MobileNet V1 (arXiv:1704.04861) and V2 (arXiv:1801.04381); their layers are fixed, their widths scaled."""

from __future__ import annotations

from itertools import pairwise

from neurarch_schemas.architectures.image_heads import with_image_classifier
from neurarch_schemas.architectures.language_heads import head_name, label_count
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import in_part
from neurarch_schemas.modules.convolution_stages import convolution_norm, make_divisible
from neurarch_schemas.modules.layers import convolution
from neurarch_schemas.modules.tree import Module, Stack, named, stack

MODEL_TYPES = ("mobilenet_v1", "mobilenet_v2")

CHANNELS_V1 = (64, 128, 128, 256, 256, 512, 512, 512, 512, 512, 512, 1024, 1024)
"""Outputs of the thirteen separable convolutions, before scaling (table 1)."""
CHANNELS_V2 = (16, 24, 24, 32, 32, 32, 64, 64, 64, 64, 96, 96, 96, 160, 160, 160, 320)
"""Outputs of the seventeen bottlenecks, before scaling (table 2)."""


def inverted_residual(inputs: int, outputs: int, expanded: int) -> Module:
    """Expand, convolve channel by channel, reduce."""
    parts = {
        "expand_1x1": convolution_norm(inputs, expanded, 1),
        "conv_3x3": convolution_norm(expanded, expanded, 3, groups=expanded),
        "reduce_1x1": convolution_norm(expanded, outputs, 1),
    }
    return Module("InvertedResidual", children=named(parts), part="convolution")


def first_version(config: ModelConfig) -> tuple[Module, int]:
    """The backbone and the width of its output."""
    scale, least = config.number("depth_multiplier"), config.integer("min_depth")
    widths = [max(int(channels * scale), least) for channels in (32, *CHANNELS_V1)]
    layers = []
    for inputs, outputs in pairwise(widths):
        layers.append(convolution_norm(inputs, inputs, 3, groups=inputs))
        layers.append(convolution_norm(inputs, outputs, 1))
    stem = convolution_norm(config.integer("num_channels"), widths[0], 3)
    return Module("Model", children=named({"conv_stem": stem, "layer": stack(*layers)})), widths[-1]


def scaled(config: ModelConfig, channels: int) -> int:
    size, divisor = round(channels * config.number("depth_multiplier")), config.integer("depth_divisible_by")
    return make_divisible(size, divisor, config.integer("min_depth"))


def second_version(config: ModelConfig) -> tuple[Module, int]:
    scale, least = config.number("depth_multiplier"), config.integer("min_depth")
    divisor = config.integer("depth_divisible_by")
    widths, stem_width = [scaled(config, channels) for channels in CHANNELS_V2], scaled(config, 32)
    expansion = config.number("expand_ratio")
    layers = [
        inverted_residual(inputs, outputs, make_divisible(round(inputs * expansion), divisor, least))
        for inputs, outputs in pairwise(widths)
    ]
    own = config.flag("first_layer_is_expansion")
    stem: dict[str, Module | Stack | None] = {
        "first_conv": convolution_norm(config.integer("num_channels"), stem_width, 3),
        "expand_1x1": None if own else convolution_norm(stem_width, stem_width, 1),
        "conv_3x3": convolution_norm(stem_width, stem_width, 3, groups=stem_width),
        "reduce_1x1": convolution_norm(stem_width, widths[0], 1),
    }
    outputs = 1280 if config.flag("finegrained_output") and scale < 1.0 else scaled(config, 1280)
    parts: dict[str, Module | Stack | None] = {
        "conv_stem": Module("Stem", children=named(stem), part="convolution"),
        "layer": stack(*layers),
        "conv_1x1": convolution_norm(widths[-1], outputs, 1),
    }
    return Module("Model", children=named(parts)), outputs


def segmentation_head(config: ModelConfig, inputs: int) -> Module:
    """DeepLabv3+ (arXiv:1802.02611), reduced: pooled and plain features side by side."""
    parts = {
        "conv_pool": convolution_norm(inputs, 256, 1),
        "conv_aspp": convolution_norm(inputs, 256, 1),
        "conv_projection": convolution_norm(512, 256, 1),
        "classifier.convolution": convolution(256, label_count(config), (1, 1)),
    }
    return in_part(Module("SegmentationHead", children=named({**parts})), "head")


def build(config: ModelConfig) -> Module:
    kind = config.model_type
    model, width = first_version(config) if kind == "mobilenet_v1" else second_version(config)
    if kind == "mobilenet_v2" and head_name(config.architecture) == "ForSemanticSegmentation":
        head = segmentation_head(config, scaled(config, CHANNELS_V2[-1]))
        return Module(config.architecture, children=((kind, model), ("segmentation_head", head)))
    return with_image_classifier(config, model, width)
