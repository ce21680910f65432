"""EfficientLoFTR (arXiv:2403.04765): RepVGG features, attention over aggregated positions, and refinement."""

from __future__ import annotations

from itertools import pairwise

from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.documents.json_value import JSONValue
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.attention import attention
from neurarch_schemas.modules.convolution_stages import convolution_norm
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import batch_norm, convolution, layer_norm
from neurarch_schemas.modules.tree import Module, Stack, named, stack

MODEL_TYPES = ("efficientloftr",)

NAMES = ("conv", "norm")


def rep_vgg_block(inputs: int, outputs: int, stride: int) -> Module:
    """A 3x3 and a 1x1 convolution side by side, with the input itself where nothing changes (arXiv:2101.03697)."""
    parts: dict[str, Module | Stack | None] = {
        "conv1": convolution_norm(inputs, outputs, 3, names=NAMES),
        "conv2": convolution_norm(inputs, outputs, 1, names=NAMES),
        "identity": batch_norm(inputs) if inputs == outputs and stride == 1 else None,
    }
    return Module("RepVGGBlock", children=named(parts), part="convolution")


def stages(config: ModelConfig) -> Stack:
    """The config lists channels and stride of every block (it derives these lists where they are not written)."""
    counts = config.integers("stage_num_blocks")
    lists = [config.items(f"stage_block_{name}") for name in ("in_channels", "out_channels", "stride")]
    built = []
    for index in range(len(config.integers("stage_stride"))):
        rows = [numbers(values[index])[: counts[index]] for values in lists]
        if min(map(len, rows)) < counts[index]:
            raise CannotBuild("stage_num_blocks has more blocks than are described", ("stage_num_blocks",))
        blocks = stack(*(rep_vgg_block(*block) for block in zip(*rows, strict=True)))
        built.append(Module("Stage", children=(("blocks", blocks),)))
    return stack(*built)


def numbers(value: JSONValue) -> list[int]:
    if isinstance(value, list) and all(isinstance(item, int) and item >= 0 for item in value):
        return [item for item in value if isinstance(item, int)]
    raise CannotBuild("the sizes of a stage must be a list of numbers", ("stage_block_out_channels",))


def aggregated_attention(config: ModelConfig) -> Module:
    """Queries are gathered by a depthwise convolution, keys and values by a pooling."""
    width, heads, kernel = (
        config.integer("hidden_size"),
        config.integer("num_attention_heads"),
        config.integer("q_aggregation_kernel_size"),
    )
    feed_forward = mlp(2 * width, config.integer("intermediate_size"), bias=False, out=width)
    attend = attention(
        width,
        heads,
        config.integer("num_key_value_heads", heads),
        config.integer("head_dim", width // heads),
        bias=config.flag("attention_bias"),
        kind="encoder",
        cached=False,
    )
    parts: dict[str, Module | Stack | None] = {
        "aggregation.q_aggregation": convolution(width, width, (kernel, kernel), bias=False, groups=width),
        "aggregation.norm": layer_norm(width),
        "attention": attend,
        "mlp": feed_forward.with_(children=(*feed_forward.children, ("layer_norm", layer_norm(width)))),
    }
    return Module("AggregatedAttention", children=named(parts))


def backbone(config: ModelConfig) -> Module:
    block = aggregated_attention(config)
    layer = Module("MatchingLayer", children=(("self_attention", block), ("cross_attention", block)))
    parts: dict[str, Module | Stack | None] = {
        "backbone.stages": stages(config),
        "local_feature_transformer.layers": uniform(layer, config.integer("num_attention_layers")),
    }
    return Module("Model", children=named(parts))


def refinement(config: ModelConfig) -> Module:
    """Fuses the stages from the last to the second, each with the width of the one before it."""
    widths = config.integers("fine_fusion_dims")
    blocks = []
    for inner, width in pairwise(widths):
        parts: dict[str, Module | Stack | None] = {
            "out_conv1": convolution(width, inner, (1, 1), bias=False),
            "out_conv2": convolution(inner, inner, (3, 3), bias=False),
            "batch_norm": batch_norm(inner),
            "out_conv3": convolution(inner, width, (3, 3), bias=False),
        }
        blocks.append(Module("FusionBlock", children=named(parts)))
    first = convolution(widths[0], widths[0], (1, 1), bias=False)
    return Module("Refinement", children=(("out_conv", first), ("out_conv_layers", stack(*blocks))), part="head")


def build(config: ModelConfig) -> Module:
    head, model = head_name(config.architecture), backbone(config)
    if head == "Model":
        return model
    if head != "ForKeypointMatching":
        raise unknown_head(config.architecture)
    return Module(config.architecture, children=(("efficientloftr", model), ("refinement_layer", refinement(config))))
