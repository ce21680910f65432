"""SegFormer's encoder (arXiv:2105.15203) and PoolFormer (arXiv:2111.11418): stages of overlapping patches."""

from __future__ import annotations

from neurarch_schemas.architectures.image_heads import classifier
from neurarch_schemas.architectures.language_heads import head_name, label_count, unknown_head
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import list_of_lists, uniform
from neurarch_schemas.modules.layers import batch_norm, convolution, group_norm, layer_norm, linear
from neurarch_schemas.modules.tree import Module, Stack, Tensor, named, stack
from neurarch_schemas.modules.vision import vit_attention

MODEL_TYPES = ("segformer", "poolformer")


def lists(config: ModelConfig, *keys: str) -> list[tuple[int, ...]]:
    """Per-stage settings, each at least as long as the number of stages."""
    count = config.integer("num_encoder_blocks")
    found = [config.integers(key) for key in keys]
    for key, values in zip(keys, found, strict=True):
        if len(values) < count:
            raise CannotBuild(f"{key} has {len(values)} values for {count} stages", (key, "num_encoder_blocks"))
    return [values[:count] for values in found]


def segformer_layer(width: int, heads: int, inner: int, reduction: int) -> Module:
    """Keys and values of a shortened sequence; the feed-forward mixes neighbours by a depth-wise convolution."""
    shorter: dict[str, Module | Stack | None] = {}
    if reduction > 1:
        shorter["sequence_reduction.sequence_reduction"] = convolution(width, width, (reduction, reduction))
        shorter["sequence_reduction.layer_norm"] = layer_norm(width)
    feed_forward = {
        "fc1": linear(width, inner),
        "dwconv.dwconv": convolution(inner, inner, (3, 3), groups=inner),
        "fc2": linear(inner, width),
    }
    parts: dict[str, Module | Stack | None] = {
        "layernorm_before": layer_norm(width),
        "attention": vit_attention(width, heads, position="none", extra=shorter),
        "layernorm_after": layer_norm(width),
        "mlp": Module("MixFeedForward", children=named(feed_forward), part="feed-forward"),
    }
    return Module("SegformerLayer", children=named(parts))


def segformer(config: ModelConfig) -> Module:
    keys = ("hidden_sizes", "depths", "patch_sizes", "num_attention_heads", "mlp_ratios", "sr_ratios")
    widths, depths, kernels, heads, ratios, reductions = lists(config, *keys)
    stages, inputs = [], config.integer("num_channels")
    for index, width in enumerate(widths):
        kernel = kernels[index]
        block = segformer_layer(width, heads[index], width * ratios[index], reductions[index])
        parts: dict[str, Module | Stack | None] = {
            "patch_embeddings.proj": convolution(inputs, width, (kernel, kernel)),
            "patch_embeddings.layer_norm": layer_norm(width),
            "blocks": uniform(block, depths[index]),
            "layer_norm": layer_norm(width),
        }
        stages.append(Module("Stage", children=named(parts)))
        inputs = width
    return Module("Model", children=named({"stages": stack(*stages)}))


def poolformer_layer(config: ModelConfig, width: int) -> Module:
    """Average pooling in the place of attention."""
    inner = int(width * config.number("mlp_ratio"))
    feed_forward = {"conv1": convolution(width, inner, (1, 1)), "conv2": convolution(inner, width, (1, 1))}
    scales = (Tensor("layer_scale_1", (width,)), Tensor("layer_scale_2", (width,)))
    parts: dict[str, Module | Stack | None] = {
        "output": Module("FeedForward", children=named(feed_forward), part="feed-forward"),
        "before_norm": group_norm(width),
        "after_norm": group_norm(width),
    }
    return Module("PoolFormerLayer", scales if config.flag("use_layer_scale") else (), named(parts))


def poolformer(config: ModelConfig) -> Module:
    widths, depths, kernels = lists(config, "hidden_sizes", "depths", "patch_sizes")
    sources = (config.integer("num_channels"), *widths)
    patches = [
        Module("Patches", children=named({"projection": convolution(sources[i], widths[i], (kernels[i], kernels[i]))}))
        for i in range(len(widths))
    ]
    blocks = list_of_lists(*((poolformer_layer(config, widths[i]), depths[i]) for i in range(len(widths))))
    parts: dict[str, Module | Stack | None] = {"encoder.patch_embeddings": stack(*patches), "encoder.block": blocks}
    return Module("Model", children=named(parts))


def segmentation_head(config: ModelConfig, widths: tuple[int, ...], labels: int) -> Module:
    """All stages mapped to one width, resized, fused and classified pixel by pixel."""
    count, hidden = config.integer("num_encoder_blocks"), config.integer("decoder_hidden_size")
    maps = [Module("StageProjection", children=named({"proj": linear(width, hidden)})) for width in widths[:count]]
    parts: dict[str, Module | Stack | None] = {
        "linear_projections": stack(*maps),
        "linear_fuse": convolution(hidden * count, hidden, (1, 1), bias=False),
        "batch_norm": batch_norm(hidden),
        "classifier": convolution(hidden, labels, (1, 1)),
    }
    return Module("SegmentationHead", children=named(parts), part="head")


def build(config: ModelConfig) -> Module:
    head, kind = head_name(config.architecture), config.model_type
    model = segformer(config) if kind == "segformer" else poolformer(config)
    if head == "Model":
        return model
    widths = config.integers("hidden_sizes")
    parts: dict[str, Module | Stack | None] = {kind: model}
    if head == "ForImageClassification":
        parts["norm"] = group_norm(widths[-1]) if kind == "poolformer" else None
        parts["classifier"] = classifier(config, widths[-1])
        return Module(config.architecture, children=named(parts))
    if head == "ForSemanticSegmentation" and kind == "segformer":
        parts["decode_head"] = segmentation_head(config, widths, label_count(config))
        return Module(config.architecture, children=named(parts))
    raise unknown_head(config.architecture)
