"""HGNet V2, the convolutional backbone of PP-OCR, D-FINE and others (PP-HGNet, PaddleClas)."""

from __future__ import annotations

from neurarch_schemas.architectures.image_heads import classifier
from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.convolution_stages import convolution_norm
from neurarch_schemas.modules.tree import Module, Stack, Tensor, concatenate, named, stack
from neurarch_schemas.modules.vision import sequential

MODEL_TYPES = ("hgnet_v2",)

STAGE_KEYS = (
    "stage_in_channels",
    "stage_mid_channels",
    "stage_out_channels",
    "stage_num_blocks",
    "stage_numb_of_layers",
    "stage_kernel_size",
)
MOST_STAGES = 32


def unit(inputs: int, outputs: int, kernel: int, *, groups: int = 1, affine: bool = False) -> Module:
    """Convolution and norm; ``affine`` adds a learned scale and offset, one number each, behind the activation."""
    block = convolution_norm(inputs, outputs, kernel, groups=groups)
    if not affine:
        return block
    scale = Module("LearnableAffine", (Tensor("scale", (1,)), Tensor("bias", (1,))))
    return block.with_(children=(*block.children, ("lab", scale)))


def stem(config: ModelConfig) -> Module:
    """Two branches behind the first convolution, joined again by the third."""
    affine = config.flag("use_learnable_affine_block") and config.flag("hidden_act")
    widths = config.integers("stem_channels")
    colours, inner, outputs = widths[0], widths[1], widths[2]
    parts: dict[str, Module | Stack | None] = {
        "stem1": unit(colours, inner, 3, affine=affine),
        "stem2a": unit(inner, inner // 2, 2, affine=affine),
        "stem2b": unit(inner // 2, inner, 2, affine=affine),
        "stem3": unit(2 * inner, inner, 3, affine=affine),
        "stem4": unit(inner, outputs, 1, affine=affine),
    }
    return Module("Stem", children=named(parts), part="embedding")


def block(inputs: int, middle: int, outputs: int, count: int, kernel: int, *, light: bool, affine: bool) -> Module:
    """All layers' outputs and the input are concatenated and mapped to ``outputs``.

    A light layer is a pointwise and a depthwise convolution.
    """

    def layer(width: int) -> Module:
        if not light:
            return unit(width, middle, kernel, affine=affine)
        pair = {
            "conv1": unit(width, middle, 1),
            "conv2": unit(middle, middle, kernel, groups=middle, affine=affine),
        }
        return Module("LightConv", children=named(pair))

    layers = concatenate(stack(layer(inputs), times=min(count, 1)), stack(layer(middle), times=count - 1))
    joined = sequential(
        unit(inputs + count * middle, outputs // 2, 1, affine=affine), unit(outputs // 2, outputs, 1, affine=affine)
    )
    return Module("HGBlock", children=(("layers", layers), ("aggregation", joined)), part="convolution")


def stages(config: ModelConfig) -> Stack:
    lists = [config.integers(key) for key in STAGE_KEYS]
    down, light = config.items("stage_downsample"), config.items("stage_light_block")
    count, affine = len(lists[0]), config.flag("use_learnable_affine_block")
    if count > MOST_STAGES or any(len(values) != count for values in (*lists, down, light)):
        raise CannotBuild(f"{', '.join(STAGE_KEYS)} must be equally long", STAGE_KEYS)
    built = []
    for index, (inputs, middle, outputs, blocks, layers, kernel) in enumerate(zip(*lists, strict=True)):
        is_light = bool(light[index])
        first = block(inputs, middle, outputs, layers, kernel, light=is_light, affine=affine)
        rest = block(outputs, middle, outputs, layers, kernel, light=is_light, affine=affine)
        parts: dict[str, Module | Stack | None] = {
            "downsample": unit(inputs, inputs, 3, groups=inputs) if down[index] else None,
            "blocks": concatenate(stack(first, times=min(blocks, 1)), stack(rest, times=blocks - 1)),
        }
        built.append(Module("Stage", children=named(parts)))
    return stack(*built)


def build(config: ModelConfig) -> Module:
    head = head_name(config.architecture)
    trunk: dict[str, Module | Stack | None] = {"embedder": stem(config), "encoder.stages": stages(config)}
    if head == "Model" or head.endswith("Backbone"):
        return Module("Backbone", children=named(trunk))
    if head != "ForImageClassification":
        raise unknown_head(config.architecture)
    top = classifier(config, config.integers("hidden_sizes")[-1])
    return Module(config.architecture, children=named({**trunk, "fc": top}))
