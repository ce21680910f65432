"""LeViT (arXiv:2104.01136): convolutions, then attention with learned offsets; batch norms fold into the maps."""

from __future__ import annotations

from neurarch_schemas.architectures.language_heads import head_name, label_count, unknown_head
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.layers import batch_norm, convolution, linear
from neurarch_schemas.modules.tree import AttentionShape, Module, Run, Stack, Tensor, named, stack

MODEL_TYPES = ("levit",)

# Between stages the class fixes: attention ratio 4, feed-forward ratio 2, stride 2.
DOWN_RATIO, DOWN_MLP, DOWN_STRIDE = 4, 2, 2
LARGEST_RESOLUTION = 512


def normalized(inputs: int, outputs: int) -> Module:
    parts = {"linear": linear(inputs, outputs, bias=False), "batch_norm": batch_norm(outputs)}
    return Module("LinearNorm", children=named(parts))


def attention(width: int, key: int, heads: int, ratio: int, resolution: int) -> Module:
    """Values are ``ratio`` times as wide as keys; a bias for each absolute offset of two positions."""
    values = ratio * key * heads
    parts = {
        "queries_keys_values": normalized(width, values + 2 * key * heads),
        "projection": normalized(values, width),
    }
    return Module(
        "Attention",
        (Tensor("attention_biases", (heads, resolution * resolution)),),
        named(parts),
        part="attention",
        attention=AttentionShape(heads, heads, key, ratio * key, "encoder", causal=False, position="relative"),
        width_in=width,
        width_out=width,
    )


def shrinking_attention(inputs: int, outputs: int, key: int, heads: int, before: int, after: int) -> Module:
    """Queries of a quarter of the positions; offsets are counted from the kept positions to all."""
    values = DOWN_RATIO * key * heads
    offsets = len({abs(kept * DOWN_STRIDE - other) for kept in range(after) for other in range(before)})
    parts = {
        "keys_values": normalized(inputs, values + key * heads),
        "queries": normalized(inputs, key * heads),
        "projection": normalized(values, outputs),
    }
    return Module(
        "ShrinkingAttention",
        (Tensor("attention_biases", (heads, offsets * offsets)),),
        named(parts),
        part="attention",
        attention=AttentionShape(heads, heads, key, DOWN_RATIO * key, "encoder", causal=False, position="relative"),
        width_in=inputs,
        width_out=outputs,
    )


def residual(module: Module) -> Module:
    return Module("Residual", children=(("module", module),))


def feed_forward(width: int, inner: int) -> Module:
    parts = {"linear_up": normalized(width, inner), "linear_down": normalized(inner, width)}
    return residual(Module("FeedForward", children=named(parts), part="feed-forward"))


def backbone(config: ModelConfig) -> Module:
    widths, depths, heads = (
        config.integers("hidden_sizes"),
        config.counts("depths"),
        config.integers("num_attention_heads"),
    )
    keys, ratios, expansions = (
        config.integers("key_dim"),
        config.integers("attention_ratio"),
        config.integers("mlp_ratio"),
    )
    written = config.setting("down_ops")
    if written is not None and written.origin == "written":
        expected = [["Subsample", keys[0], widths[i] // keys[0], DOWN_RATIO, DOWN_MLP, DOWN_STRIDE] for i in range(2)]
        if config.items("down_ops")[:2] != expected:
            raise CannotBuild("down_ops other than those of the class are not known", ("down_ops",))
    if min(map(len, (widths, depths, heads, keys, ratios, expansions))) < 3 or len(depths) != 3:
        raise CannotBuild("three stages are known", ("depths",))
    resolution = config.integer("image_size") // config.integer("patch_size")
    if resolution > LARGEST_RESOLUTION:
        raise CannotBuild(f"{resolution} patches a side are too many to count offsets", ("image_size", "patch_size"))
    stages = []
    for index, width in enumerate(widths[:3]):
        period = [residual(attention(width, keys[index], heads[index], ratios[index], resolution))]
        if expansions[index] > 0:
            period.append(feed_forward(width, width * expansions[index]))
        runs = [Run(tuple(period), depths[index])] if depths[index] else []
        if index < 2:
            after = (resolution - 1) // DOWN_STRIDE + 1
            wider = widths[index + 1]
            # Its key width is the first stage's, its heads follow from the width it comes from.
            down = shrinking_attention(width, wider, keys[0], width // keys[0], resolution, after)
            runs.append(Run((down, feed_forward(wider, wider * DOWN_MLP))))
            resolution = after
        stages.append(Module("Stage", children=(("layers", Stack(tuple(runs))),)))
    first, kernel = widths[0], config.integer("kernel_size")
    sizes = (config.integer("num_channels"), first // 8, first // 4, first // 2, first)
    patches: dict[str, Module | Stack | None] = {}
    for index in range(4):
        conv = convolution(sizes[index], sizes[index + 1], (kernel, kernel), bias=False)
        patches[f"embedding_layer_{index + 1}.convolution"] = conv
        patches[f"embedding_layer_{index + 1}.batch_norm"] = batch_norm(sizes[index + 1])
    parts: dict[str, Module | Stack | None] = {
        "patch_embeddings": Module("PatchEmbeddings", children=named(patches), part="convolution"),
        "encoder.stages": stack(*stages),
    }
    return Module("Model", children=named(parts))


def build(config: ModelConfig) -> Module:
    head, model = head_name(config.architecture), backbone(config)
    if head == "Model":
        return model
    if head not in ("ForImageClassification", "ForImageClassificationWithTeacher"):
        raise unknown_head(config.architecture)
    width, labels = config.integers("hidden_sizes")[-1], label_count(config)
    top = {"batch_norm": batch_norm(width), "linear": linear(width, labels)}
    scores = Module("Classifier", children=named(top), part="head") if labels else None
    parts: dict[str, Module | Stack | None] = {
        "levit": model,
        "classifier": scores,
        "classifier_distill": scores if head.endswith("WithTeacher") else None,
    }
    return Module(config.architecture, children=named(parts))
