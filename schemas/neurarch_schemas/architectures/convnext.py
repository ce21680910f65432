"""ConvNeXt (arXiv:2201.03545), ConvNeXt V2 (arXiv:2301.00808) and DINOv3's ConvNeXt."""

from __future__ import annotations

from neurarch_schemas.architectures.image_heads import stage_norms, with_image_classifier
from neurarch_schemas.architectures.language_heads import head_name
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.layers import convolution, layer_norm, linear
from neurarch_schemas.modules.tree import Module, Stack, Tensor, named, stack
from neurarch_schemas.modules.vision import height_and_width, sequential

MODEL_TYPES = ("convnext", "convnextv2", "dinov3_convnext")


def layer(config: ModelConfig, width: int) -> Module:
    """Depth-wise 7x7 convolution, norm, expansion by four and back; scaled by a parameter or globally normalized."""
    kind = config.model_type
    depthwise = convolution(width, width, (7, 7), groups=width).with_(part="convolution")
    tensors: tuple[Tensor, ...] = ()
    if kind == "dinov3_convnext":
        names = ("depthwise_conv", "layer_norm", "pointwise_conv1", "pointwise_conv2")
        tensors = (Tensor("gamma", (width,)),)
    else:
        names = ("dwconv", "layernorm", "pwconv1", "pwconv2")
        if kind == "convnext" and config.number("layer_scale_init_value") > 0:
            tensors = (Tensor("layer_scale_parameter", (width,)),)
    shape = (1, 1, 1, 4 * width)
    response = Module("GlobalResponseNorm", (Tensor("weight", shape), Tensor("bias", shape)), part="norm")
    children: dict[str, Module | Stack | None] = {
        names[0]: depthwise,
        names[1]: layer_norm(width),
        names[2]: linear(width, 4 * width, part="feed-forward"),
        "grn": response if kind == "convnextv2" else None,
        names[3]: linear(4 * width, width, part="feed-forward"),
    }
    return Module("ConvNextLayer", tensors, named(children))


def stage(config: ModelConfig, inputs: int, outputs: int, depth: int, index: int) -> Module:
    layers = stack(layer(config, outputs), times=depth)
    down: dict[str, Module | Stack | None]
    if config.model_type == "dinov3_convnext":
        halve = sequential(layer_norm(inputs), convolution(inputs, outputs, (2, 2)))
        first = sequential(convolution(inputs, outputs, (4, 4)), layer_norm(outputs))
        down = {"downsample_layers": halve if index else first}
    else:
        halve = sequential(layer_norm(inputs), convolution(inputs, outputs, (2, 2) if index else (1, 1)))
        down = {"downsampling_layer": halve if index or inputs != outputs else None}
    return Module("Stage", children=named({**down, "layers": layers}))


def backbone(config: ModelConfig, *, with_norm: bool = True) -> Module:
    widths, depths, dino = (
        config.integers("hidden_sizes"),
        config.counts("depths"),
        config.model_type == "dinov3_convnext",
    )
    channels = config.integer("num_channels")
    count = len(depths) if dino else config.integer("num_stages")
    if count > min(len(widths), len(depths)):
        raise CannotBuild(f"{count} stages need as many hidden_sizes and depths", ("hidden_sizes", "depths"))
    sources = (channels if dino else widths[0], *widths)
    stages = stack(*(stage(config, sources[i], widths[i], depths[i], i) for i in range(count)))
    final = layer_norm(widths[-1]) if with_norm else None
    if dino:
        parts: dict[str, Module | Stack | None] = {"model.stages": stages, "layer_norm": final}
        return Module("Model", children=named(parts))
    patches = convolution(channels, widths[0], height_and_width(config, "patch_size"))
    parts = {
        "embeddings.patch_embeddings": patches.with_(part="embedding"),
        "embeddings.layernorm": layer_norm(widths[0]),
        "encoder.stages": stages,
        "layernorm": final,
    }
    return Module("Model", children=named(parts))


def build(config: ModelConfig) -> Module:
    if head_name(config.architecture) == "Backbone":
        widths = config.integers("hidden_sizes")
        norms = {} if config.model_type == "dinov3_convnext" else stage_norms(config, (widths[0], *widths))
        return Module("Backbone", children=(*backbone(config, with_norm=False).children, *norms.items()))
    return with_image_classifier(config, backbone(config), config.integers("hidden_sizes")[-1])
