"""PP-LCNet (arXiv:2109.15099) and its versions 3 and 4: depthwise separable convolutions, some with gated channels."""

from __future__ import annotations

from neurarch_schemas.architectures import hgnet_v2
from neurarch_schemas.architectures.image_heads import classifier
from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.convolution_stages import convolution_norm, make_divisible
from neurarch_schemas.modules.layers import batch_norm, convolution
from neurarch_schemas.modules.tree import Module, Stack, Tensor, named, stack
from neurarch_schemas.modules.vision import sequential
from neurarch_schemas.record import Record

MODEL_TYPES = ("pp_lcnet", "pp_lcnet_v3", "pp_lcnet_v4")

COLOURS = 3


class Block(Record):
    """One entry of ``block_configs``: kernel, channels in and out, stride, and whether channels are gated."""

    kernel: int
    inputs: int
    outputs: int
    same_size: bool
    gated: bool


def blocks(config: ModelConfig) -> list[list[Block]]:
    """The blocks of every stage, with the channels as written."""
    stages = []
    for stage in config.items("block_configs"):
        rows = []
        for row in stage if isinstance(stage, list) else [None]:
            if not isinstance(row, list) or len(row) != 5:
                raise CannotBuild("a block must have five values", ("block_configs",))
            kernel, inputs, outputs = row[:3]
            if not (isinstance(kernel, int) and isinstance(inputs, int) and isinstance(outputs, int)):
                raise CannotBuild("kernel and channels of a block must be numbers", ("block_configs",))
            rows.append(Block(kernel, inputs, outputs, row[3] == 1, bool(row[4])))
        stages.append(rows)
    return stages


def scaled(config: ModelConfig, channels: int) -> int:
    return make_divisible(channels * config.number("scale"), config.integer("divisor"))


def last_width(config: ModelConfig) -> int:
    """Channels of the last block as written."""
    return blocks(config)[-1][-1].outputs


def squeeze_excitation(channels: int, reduction: int) -> Module:
    narrow = channels // reduction
    steps = (convolution(channels, narrow, (1, 1)), None, convolution(narrow, channels, (1, 1)))
    return Module("SqueezeExcitation", children=(("convolutions", sequential(*steps)),))


def affine() -> Module:
    return Module("LearnableAffine", (Tensor("scale", (1,)), Tensor("bias", (1,))))


def parallel(config: ModelConfig, inputs: int, outputs: int, kernel: int, *, groups: int, same_size: bool) -> Module:
    """Version 3 trains several equal convolutions, a pointwise one and the input itself side by side."""
    branch = convolution_norm(inputs, outputs, kernel, groups=groups)
    parts: dict[str, Module | Stack | None] = {
        "identity": batch_norm(inputs) if inputs == outputs and same_size else None,
        "conv_symmetric": uniform(branch, config.integer("conv_symmetric_num")),
        "conv_small_symmetric": convolution_norm(inputs, outputs, 1, groups=groups) if kernel > 1 else None,
        "lab": affine(),
        "act.lab": affine(),
    }
    return Module("ParallelConvolutions", children=named(parts))


def separable(config: ModelConfig, block: Block) -> Module:
    """Versions 1 and 3: a depthwise and a pointwise convolution."""
    inputs, outputs, kernel = scaled(config, block.inputs), scaled(config, block.outputs), block.kernel
    if config.model_type == "pp_lcnet":
        depthwise = convolution_norm(inputs, inputs, kernel, groups=inputs)
        pointwise = convolution_norm(inputs, outputs, 1)
    else:
        depthwise = parallel(config, inputs, inputs, kernel, groups=inputs, same_size=block.same_size)
        pointwise = parallel(config, inputs, outputs, 1, groups=1, same_size=True)
    gate = squeeze_excitation(inputs, config.integer("reduction")) if block.gated else None
    parts: dict[str, Module | Stack | None] = {
        "depthwise_convolution": depthwise,
        "squeeze_excitation_module": gate,
        "pointwise_convolution": pointwise,
    }
    return Module("SeparableConvolution", children=named(parts), part="convolution")


def token_and_channel(config: ModelConfig, block: Block) -> Module:
    """Version 4: a depthwise convolution, without norm where the shape stays, and an expansion of the channels."""
    inputs, outputs, kernel = block.inputs, block.outputs, block.kernel
    if inputs == outputs and block.same_size:
        token = convolution(inputs, outputs, (kernel, kernel), groups=inputs)
    else:
        token = convolution_norm(inputs, inputs, kernel, groups=inputs)
    gate = squeeze_excitation(inputs, config.integer("reduction")) if block.gated else None
    parts: dict[str, Module | Stack | None] = {
        "token_conv": token,
        "token_squeeze_excitation": gate,
        "channel_conv1": convolution_norm(inputs, 2 * inputs, 1),
        "channel_conv2": convolution_norm(2 * inputs, outputs, 1),
    }
    return Module("TokenChannelConvolution", children=named(parts), part="convolution")


def stem(config: ModelConfig) -> Module:
    if config.model_type != "pp_lcnet_v4":
        return convolution_norm(COLOURS, scaled(config, config.integer("stem_channels")))
    if config.text("stem_type") == "large":
        return hgnet_v2.stem(config)
    colours, inner, outputs = config.integers("stem_channels")[:3]
    parts = {"conv1": convolution_norm(colours, inner), "conv2": convolution_norm(inner, outputs)}
    return Module("Stem", children=named(parts))


def encoder(config: ModelConfig) -> Module:
    version_4 = config.model_type == "pp_lcnet_v4"
    build_block, name = (token_and_channel, "blocks") if version_4 else (separable, "layers")
    stages = [
        Module("Stage", children=((name, stack(*(build_block(config, block) for block in stage))),))
        for stage in blocks(config)
    ]
    first = stem(config).with_(part="embedding")
    return Module("Encoder", children=(("convolution", first), ("blocks", stack(*stages))))


def build(config: ModelConfig) -> Module:
    head = head_name(config.architecture)
    if head == "Model" or head.endswith("Backbone"):
        return Module("Backbone", children=(("encoder", encoder(config)),))
    if head != "ForImageClassification" or config.model_type != "pp_lcnet":
        raise unknown_head(config.architecture)
    width = config.integer("class_expand")
    parts: dict[str, Module | Stack | None] = {
        "encoder": encoder(config),
        "last_convolution": convolution(scaled(config, last_width(config)), width, (1, 1), bias=False),
        "head": classifier(config, width),
    }
    return Module(config.architecture, children=named(parts))
