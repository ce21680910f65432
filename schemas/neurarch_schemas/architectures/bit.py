"""Big Transfer (arXiv:1912.11370): ResNet with group norms and weight-standardized convolutions."""

from __future__ import annotations

from neurarch_schemas.architectures.image_heads import with_image_classifier
from neurarch_schemas.architectures.language_heads import head_name
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.convolution_stages import make_divisible
from neurarch_schemas.modules.layers import convolution, group_norm
from neurarch_schemas.modules.tree import Module, Stack, concatenate, named, stack

MODEL_TYPES = ("bit",)


def plain(inputs: int, outputs: int, kernel: int) -> Module:
    return convolution(inputs, outputs, (kernel, kernel), bias=False)


def layer(inputs: int, outputs: int, *, first: bool, before: bool) -> Module:
    """A bottleneck; ``before``: norms stand before the convolutions. The first of a stage projects its shortcut."""
    narrow = make_divisible(outputs / 4)
    norms = (inputs, narrow, narrow) if before else (narrow, narrow, outputs)
    parts: dict[str, Module | Stack | None] = {}
    if first:
        parts["downsample.conv"] = plain(inputs, outputs, 1)
        parts["downsample.norm"] = None if before else group_norm(outputs)
    parts["conv1"], parts["norm1"] = plain(inputs, narrow, 1), group_norm(norms[0])
    parts["conv2"], parts["norm2"] = plain(narrow, narrow, 3), group_norm(norms[1])
    parts["conv3"], parts["norm3"] = plain(narrow, outputs, 1), group_norm(norms[2])
    return Module("BottleneckLayer", children=named(parts), part="convolution")


def backbone(config: ModelConfig) -> Module:
    kind, width = config.text("layer_type"), config.integer("embedding_size")
    if kind not in ("preactivation", "bottleneck"):
        raise CannotBuild(f"layer_type {kind!r} is not known", ("layer_type",))
    before, widths = kind == "preactivation", config.integers("hidden_sizes")
    stages, inputs = [], width
    for size, depth in zip(widths, config.counts("depths"), strict=False):
        outputs = make_divisible(size * config.integer("width_factor"))
        front = stack(layer(inputs, outputs, first=True, before=before), times=min(depth, 1))
        rest = stack(layer(outputs, outputs, first=False, before=before), times=depth - 1)
        stages.append(Module("Stage", children=(("layers", concatenate(front, rest)),)))
        inputs = outputs
    parts: dict[str, Module | Stack | None] = {
        "embedder.convolution": plain(config.integer("num_channels"), width, 7),
        "embedder.norm": None if before else group_norm(width),
        "encoder.stages": stack(*stages),
        "norm": group_norm(widths[-1]) if before else None,
    }
    return Module("Model", children=named(parts))


def build(config: ModelConfig) -> Module:
    if head_name(config.architecture) == "Backbone":
        return Module("Backbone", children=(("bit", backbone(config)),))
    # The classifier is a flattening followed by a linear map.
    return with_image_classifier(config, backbone(config), config.integers("hidden_sizes")[-1], name="classifier.1")
