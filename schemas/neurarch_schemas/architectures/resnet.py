"""ResNet (arXiv:1512.03385) and RegNet (arXiv:2003.13678)."""

from __future__ import annotations

from neurarch_schemas.architectures.image_heads import with_image_classifier
from neurarch_schemas.architectures.language_heads import head_name
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.convolution_stages import convolution_norm
from neurarch_schemas.modules.layers import convolution
from neurarch_schemas.modules.tree import Module, Stack, concatenate, named, stack
from neurarch_schemas.modules.vision import sequential

MODEL_TYPES = ("resnet", "regnet")


def residual(inputs: int, outputs: int, strided: bool, *branch: Module) -> Module:
    """A branch of convolutions beside a shortcut, which is projected where shape or resolution changes."""
    shortcut = convolution_norm(inputs, outputs, 1) if inputs != outputs or strided else None
    parts: dict[str, Module | Stack | None] = {"shortcut": shortcut, "layer": sequential(*branch)}
    return Module("ResidualLayer", children=named(parts), part="convolution")


def squeeze_excitation(channels: int, reduced: int) -> Module:
    """RegNetY gates its channels by their means (arXiv:1709.01507)."""
    gate = sequential(convolution(channels, reduced, (1, 1)), None, convolution(reduced, channels, (1, 1)))
    return Module("SqueezeExcitation", children=named({"attention": gate}))


def layer(config: ModelConfig, inputs: int, outputs: int, strided: bool) -> Module:
    kind = config.text("layer_type")
    if config.model_type == "resnet" and kind == "bottleneck":
        narrow = outputs // 4
        branch = (
            convolution_norm(inputs, narrow, 1),
            convolution_norm(narrow, narrow, 3),
            convolution_norm(narrow, outputs, 1),
        )
        return residual(inputs, outputs, strided, *branch)
    if config.model_type == "resnet" and kind == "basic":
        return residual(inputs, outputs, strided, convolution_norm(inputs, outputs), convolution_norm(outputs, outputs))
    if config.model_type == "regnet" and kind in ("x", "y"):
        groups = max(1, outputs // config.integer("groups_width"))
        steps = [convolution_norm(inputs, outputs, 1), convolution_norm(outputs, outputs, groups=groups)]
        if kind == "y":
            steps.append(squeeze_excitation(outputs, round(inputs / 4)))
        return residual(inputs, outputs, strided, *steps, convolution_norm(outputs, outputs, 1))
    raise CannotBuild(f"layer_type {kind!r} is not known", ("layer_type",))


def stage(config: ModelConfig, inputs: int, outputs: int, depth: int, strided: bool) -> Module:
    """The first layer changes width and resolution. A stage has one layer at least."""
    first = stack(layer(config, inputs, outputs, strided))
    rest = stack(layer(config, outputs, outputs, strided=False), times=depth - 1)
    return Module("Stage", children=(("layers", concatenate(first, rest)),))


def backbone(config: ModelConfig) -> Module:
    widths, depths = config.integers("hidden_sizes"), config.counts("depths")
    width = config.integer("embedding_size")
    stem = convolution_norm(config.integer("num_channels"), width, 7 if config.model_type == "resnet" else 3)
    stages, inputs = [], width
    for index, (outputs, depth) in enumerate(zip(widths, depths, strict=False)):
        strided = index > 0 or config.flag("downsample_in_first_stage")
        stages.append(stage(config, inputs, outputs, depth, strided))
        inputs = outputs
    parts: dict[str, Module | Stack | None] = {
        "embedder.embedder": stem.with_(part="embedding"),
        "encoder.stages": stack(*stages),
    }
    return Module("Model", children=named(parts))


def build(config: ModelConfig) -> Module:
    if head_name(config.architecture) == "Backbone":
        return backbone(config)
    # The classifier is a flattening followed by a linear map.
    return with_image_classifier(config, backbone(config), config.integers("hidden_sizes")[-1], name="classifier.1")
