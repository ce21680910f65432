"""TextNet, FAST's backbone (arXiv:2111.02394), and SwiftFormer (arXiv:2303.15446)."""

from __future__ import annotations

from neurarch_schemas.architectures.image_heads import classifier
from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.layers import batch_norm, convolution, linear
from neurarch_schemas.modules.tree import AttentionShape, Module, Run, Stack, Tensor, named, stack
from neurarch_schemas.modules.vision import height_and_width, sequential

MODEL_TYPES = ("textnet", "swiftformer")


def pair(value: object, key: str) -> tuple[int, int]:
    if isinstance(value, list) and len(value) == 2 and all(isinstance(item, int) for item in value):
        return int(value[0]), int(value[1])
    raise CannotBuild(f"{key} must be lists of pairs", (key,))


def rep_layer(inputs: int, outputs: int, kernel: tuple[int, int], stride: int) -> Module:
    """Parallel convolutions of the whole kernel, its column and its row, and the identity, as trained."""
    height, width = kernel
    parts: dict[str, Module | Stack | None] = {
        "main_conv": convolution(inputs, outputs, kernel, bias=False),
        "main_batch_norm": batch_norm(outputs),
    }
    if width != 1:
        parts["vertical_conv"] = convolution(inputs, outputs, (height, 1), bias=False)
        parts["vertical_batch_norm"] = batch_norm(outputs)
    if height != 1:
        parts["horizontal_conv"] = convolution(inputs, outputs, (1, width), bias=False)
        parts["horizontal_batch_norm"] = batch_norm(outputs)
    if inputs == outputs and stride == 1:
        parts["rbr_identity"] = batch_norm(inputs)
    return Module("RepConvLayer", children=named(parts), part="convolution")


def textnet(config: ModelConfig) -> Module:
    widths = config.integers("hidden_sizes")
    kernels, strides = config.items("conv_layer_kernel_sizes"), config.items("conv_layer_strides")
    if len(widths) < len(kernels) + 1 or len(strides) < len(kernels):
        raise CannotBuild("hidden_sizes must be one longer than the stages", ("hidden_sizes", "conv_layer_strides"))
    stages = []
    for index, stage in enumerate(kernels):
        steps = strides[index]
        if not isinstance(stage, list) or not isinstance(steps, list):
            raise CannotBuild("the layers of each stage must be lists", ("conv_layer_kernel_sizes",))
        layers, inputs, outputs = [], widths[index], widths[index + 1]
        for kernel, stride in zip(stage, steps, strict=False):
            size = pair(kernel, "conv_layer_kernel_sizes")
            layers.append(rep_layer(inputs, outputs, size, stride if isinstance(stride, int) else 0))
            inputs = outputs
        stages.append(Module("Stage", children=(("stage", stack(*layers)),)))
    stem = height_and_width(config, "stem_kernel_size")
    channels, first = config.integer("stem_num_channels"), config.integer("stem_out_channels")
    parts: dict[str, Module | Stack | None] = {
        "stem.conv": convolution(channels, first, stem, bias=False),
        "stem.batch_norm": batch_norm(first),
        "encoder.stages": stack(*stages),
    }
    return Module("Model", children=named(parts))


def scale(width: int, name: str) -> Tensor:
    return Tensor(name, (width, 1, 1))


def local_layer(width: int, inner: int, kind: str) -> Module:
    """Depth-wise and point-wise convolutions, scaled."""
    parts: dict[str, Module | Stack | None] = {
        "depth_wise_conv": convolution(width, width, (3, 3), groups=width),
        "norm": batch_norm(width),
        "point_wise_conv1": convolution(width, inner, (1, 1)),
        "point_wise_conv2": convolution(inner, width, (1, 1)),
    }
    return Module(kind, (scale(width, "layer_scale"),), named(parts), part="convolution")


def additive_layer(config: ModelConfig, width: int, inner: int) -> Module:
    """The last layer of a stage: attention that adds up weighted queries instead of comparing all pairs."""
    projections = {name: linear(width, width) for name in ("to_query", "to_key", "proj", "final")}
    attention = Module(
        "AdditiveAttention",
        (Tensor("w_g", (width, 1)),),
        named(projections),
        part="attention",
        attention=AttentionShape(1, 1, width, width, "linear", causal=False, position="none"),
        width_in=width,
        width_out=width,
    )
    feed_forward = {
        "norm1": batch_norm(width),
        "fc1": convolution(width, inner, (1, 1)),
        "fc2": convolution(inner, width, (1, 1)),
    }
    parts: dict[str, Module | Stack | None] = {
        "local_representation": local_layer(width, width, "LocalRepresentation"),
        "attn": attention,
        "linear": Module("FeedForward", children=named(feed_forward), part="feed-forward"),
    }
    scales = (scale(width, "layer_scale_1"), scale(width, "layer_scale_2"))
    return Module("EncoderBlock", scales if config.flag("use_layer_scale") else (), named(parts))


def swiftformer(config: ModelConfig) -> Module:
    widths, depths, downsamples = config.integers("embed_dims"), config.counts("depths"), config.items("downsamples")
    if min(len(widths), len(downsamples) + 1) < len(depths):
        raise CannotBuild("embed_dims and downsamples must be as long as depths", ("embed_dims", "downsamples"))
    network: list[Module] = []
    for index, depth in enumerate(depths):
        width = widths[index]
        inner = int(config.number("mlp_ratio") * width)
        runs = [Run((local_layer(width, inner, "ConvEncoder"),), depth - 1)] if depth > 1 else []
        if depth:
            runs.append(Run((additive_layer(config, width, inner),)))
        network.append(Module("Stage", children=(("blocks", Stack(tuple(runs))),)))
        if index < len(depths) - 1 and (downsamples[index] or width != widths[index + 1]):
            kernel = height_and_width(config, "down_patch_size")
            down = {"proj": convolution(width, widths[index + 1], kernel), "norm": batch_norm(widths[index + 1])}
            network.append(Module("Downsample", children=named(down)))
    half, first = widths[0] // 2, widths[0]
    patches = sequential(
        convolution(config.integer("num_channels"), half, (3, 3)),
        batch_norm(half),
        None,
        convolution(half, first, (3, 3)),
        batch_norm(first),
    )
    parts: dict[str, Module | Stack | None] = {
        "patch_embed.patch_embedding": patches,
        "encoder.network": stack(*network),
    }
    return Module("Model", children=named(parts))


def build(config: ModelConfig) -> Module:
    head, kind = head_name(config.architecture), config.model_type
    model = textnet(config) if kind == "textnet" else swiftformer(config)
    if head == "Model":
        return model
    if head == "Backbone" and kind == "textnet":
        return Module("Backbone", children=(("textnet", model),))
    if head != "ForImageClassification":
        raise unknown_head(config.architecture)
    width = config.integers("hidden_sizes" if kind == "textnet" else "embed_dims")[-1]
    parts: dict[str, Module | Stack | None] = {kind: model}
    if kind == "textnet":
        parts["fc"] = classifier(config, width)
    else:
        # A second head is distilled from a teacher.
        top = classifier(config, width)
        parts.update({"norm": batch_norm(width), "head": top, "dist_head": top})
    return Module(config.architecture, children=named(parts))
