"""Swin Transformers (arXiv:2103.14030, V2: arXiv:2111.09883): attention in shifted windows, stage by stage."""

from __future__ import annotations

from neurarch_schemas.architectures.image_heads import stage_norms, with_image_classifier
from neurarch_schemas.architectures.language_heads import head_name
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import convolution, layer_norm, linear
from neurarch_schemas.modules.tree import Module, Stack, Tensor, named, stack
from neurarch_schemas.modules.vision import height_and_width, patch_grid, sequential, vision_attention, vit_attention

MODEL_TYPES = ("swin", "swinv2", "donut-swin", "maskformer-swin")

PREFIXES = {"donut-swin": "donut"}
MOST_STAGES = 32
OLD_NAMES = ("self.query", "self.key", "self.value", "output.dense")


def attention(config: ModelConfig, width: int, heads: int) -> Module:
    """Windows of V1 have a table of relative biases, V2 computes them from log-spaced coordinates."""
    bias, window, kind = config.flag("qkv_bias"), config.integer("window_size"), config.model_type
    table = Tensor("relative_position_bias_table", ((2 * window - 1) ** 2, heads))
    extra: dict[str, Module | Stack | None]
    if kind == "swin":
        extra = {"relative_position_bias": Module("RelativePositionBias", (table,), part="position")}
        names = ("q_proj", "k_proj", "v_proj", "o_proj")
        return vision_attention(width, heads, names=names, bias=bias, out_bias=True, position="relative", extra=extra)
    if kind == "swinv2":
        biases = sequential(linear(2, 512), None, linear(512, heads, bias=False)).with_(part="position")
        extra = {
            "self": Module("LogitScale", (Tensor("logit_scale", (heads, 1, 1)),)),
            "self.continuous_position_bias_mlp": biases,
        }
    else:
        # Both keep the index of each pair of positions in the window as a buffer.
        index = Tensor("relative_position_index", (window * window, window * window), "buffer")
        extra = {"self": Module("RelativePositionBias", (table, index), part="position")}
    key_bias = False if kind == "swinv2" else None
    return vit_attention(width, heads, bias=bias, key_bias=key_bias, names=OLD_NAMES, position="relative", extra=extra)


def layer(config: ModelConfig, width: int, heads: int) -> Module:
    inner = int(config.number("mlp_ratio") * width)
    parts: dict[str, Module | Stack | None] = {
        "attention": attention(config, width, heads),
        "layernorm_before": layer_norm(width),
        "layernorm_after": layer_norm(width),
    }
    if config.model_type == "swin":
        parts["mlp"] = mlp(width, inner)
    else:
        parts["intermediate.dense"] = linear(width, inner, part="feed-forward")
        parts["output.dense"] = linear(inner, width, part="feed-forward")
    return Module("SwinLayer", children=named(parts))


def merging(config: ModelConfig, width: int) -> Module:
    """Four neighbours become one patch of twice the width; V2 normalizes after, the others before."""
    norm = layer_norm(2 * width if config.model_type == "swinv2" else 4 * width)
    parts = {"reduction": linear(4 * width, 2 * width, bias=False), "norm": norm}
    return Module("PatchMerging", children=named(parts))


def embeddings(config: ModelConfig, mask_token: bool) -> Module:
    width = config.integer("embed_dim")
    tensors: tuple[Tensor, ...] = (Tensor("mask_token", (1, 1, width)),) if mask_token else ()
    if config.flag("use_absolute_embeddings"):
        rows, columns = patch_grid(config)
        class_token = 0 if config.model_type == "swin" else 1
        tensors += (Tensor("position_embeddings", (1, rows * columns + class_token, width)),)
    patches = convolution(config.integer("num_channels"), width, height_and_width(config, "patch_size"))
    parts = {"patch_embeddings.projection": patches, "norm": layer_norm(width)}
    return Module("Embeddings", tensors, named(parts), part="embedding")


def backbone(config: ModelConfig, *, mask_token: bool = False) -> tuple[Module, int]:
    """The model and the width of its output, which doubles from stage to stage."""
    depths, heads, width = config.counts("depths"), config.integers("num_heads"), config.integer("embed_dim")
    if len(heads) < len(depths) or len(depths) > MOST_STAGES:
        raise CannotBuild("depths and num_heads must be equally long", ("depths", "num_heads"))
    stages = []
    for index, depth in enumerate(depths):
        size = width * 2**index
        blocks = stack(layer(config, size, heads[index]), times=depth)
        down = merging(config, size) if index < len(depths) - 1 else None
        stages.append(Module("Stage", children=named({"blocks": blocks, "downsample": down})))
    last = width * 2 ** (len(depths) - 1)
    parts: dict[str, Module | Stack | None] = {
        "embeddings": embeddings(config, mask_token),
        "encoder.layers": stack(*stages),
        "layernorm": layer_norm(last),
    }
    kind = config.model_type
    if kind == "donut-swin":  # it has no final norm
        del parts["layernorm"]
    return Module("Model", children=named(parts)), last


def feature_maps(config: ModelConfig, model: Module) -> Module:
    """The network of a detector: norms over the feature maps it reads (MaskFormer's: over all; V2: none at all)."""
    first, kind = config.integer("embed_dim"), config.model_type
    widths = tuple(first << index for index in range(len(config.counts("depths"))))
    if kind == "swinv2":
        return Module("Backbone", children=tuple(child for child in model.children if child[0] != "layernorm"))
    if kind == "maskformer-swin":
        norms = stack(*(layer_norm(width) for width in widths))
        return Module("Backbone", children=(("model", model), ("hidden_states_norms", norms)))
    return Module("Backbone", children=(("swin", model), *stage_norms(config, (first, *widths)).items()))


def build(config: ModelConfig) -> Module:
    masked = head_name(config.architecture) == "ForMaskedImageModeling" and config.model_type in ("swin", "swinv2")
    model, width = backbone(config, mask_token=masked)
    if head_name(config.architecture) == "Backbone":
        return feature_maps(config, model)
    if masked:
        # The pixels of every patch; the class takes the width from ``num_layers``, not from the depths.
        pixels = config.integer("encoder_stride") ** 2 * config.integer("num_channels")
        count = config.integer("num_layers")
        if not 0 < count <= MOST_STAGES:
            raise CannotBuild(f"{count} stages are not built", ("num_layers",))
        decoder = convolution(config.integer("embed_dim") * 2 ** (count - 1), pixels, (1, 1)).with_(part="head")
        return Module(config.architecture, children=((config.model_type, model), ("decoder.0", decoder)))
    return with_image_classifier(config, model, width, prefix=PREFIXES.get(config.model_type, ""))
