"""Pyramid Vision Transformers (arXiv:2102.12122, V2: arXiv:2106.13797) and GLPN's encoder (arXiv:2201.07436)."""

from __future__ import annotations

from neurarch_schemas.architectures.image_heads import with_image_classifier
from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.architectures.segformer import lists
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import list_of_lists, uniform
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import batch_norm, convolution, layer_norm, linear
from neurarch_schemas.modules.tree import Module, Stack, Tensor, named, stack
from neurarch_schemas.modules.vision import height_and_width, sequential, vit_attention

MODEL_TYPES = ("pvt", "pvt_v2", "glpn")

REDUCTIONS = {"pvt": "sequence_reduction_ratios", "pvt_v2": "sr_ratios", "glpn": "sr_ratios"}


def reduction(config: ModelConfig, width: int, ratio: int) -> dict[str, Module | Stack | None]:
    """Keys and values come from a shortened sequence; with ``linear_attention`` from one of fixed length."""
    kind = config.model_type
    path, name = {"pvt": ("self.", "sequence_reduction"), "glpn": ("self.", "sr")}.get(kind, ("", "spatial_reduction"))
    pooled = kind == "pvt_v2" and config.flag("linear_attention")
    if not pooled and ratio <= 1:
        return {}
    kernel = 1 if pooled else ratio
    return {f"{path}{name}": convolution(width, width, (kernel, kernel)), f"{path}layer_norm": layer_norm(width)}


def layer(config: ModelConfig, width: int, heads: int, ratio: int, inner: int) -> Module:
    kind = config.model_type
    if kind == "pvt_v2":
        names = ("query", "key", "value", "proj")
    else:
        names = ("self.query", "self.key", "self.value", "output.dense")
    bias = kind == "glpn" or config.flag("qkv_bias")
    attention = vit_attention(width, heads, bias=bias, names=names, extra=reduction(config, width, ratio))
    if kind == "pvt":
        feed_forward = mlp(width, inner, names=("dense1", "dense2"))
    else:
        mixing: dict[str, Module | Stack | None] = {
            "dense1": linear(width, inner),
            "dwconv.dwconv": convolution(inner, inner, (3, 3), groups=inner),
            "dense2": linear(inner, width),
        }
        feed_forward = Module("MixFeedForward", children=named(mixing), part="feed-forward")
    parts: dict[str, Module | Stack | None] = {
        "layer_norm_1": layer_norm(width),
        "attention": attention,
        "layer_norm_2": layer_norm(width),
        "mlp": feed_forward,
    }
    return Module("EncoderLayer", children=named(parts))


def patches(config: ModelConfig, index: int, inputs: int, width: int, last: bool) -> Module:
    """Only PVT has learned positions, one table a stage, with a class token in the last."""
    kernel = config.integers("patch_sizes")[index]
    if config.model_type != "pvt":
        parts = {"proj": convolution(inputs, width, (kernel, kernel)), "layer_norm": layer_norm(width)}
        return Module("Patches", children=named(parts))
    size = config.integers("strides")[index]
    height, breadth = height_and_width(config, "image_size")
    if index:
        height, breadth = height // 2 ** (index + 1), breadth // 2 ** (index + 1)
    count = (height // kernel) * (breadth // kernel) + last
    tensors = [Tensor("position_embeddings", (1, count, width))]
    if last:
        tensors.append(Tensor("cls_token", (1, 1, width)))
    parts = {"projection": convolution(inputs, width, (size, size)), "layer_norm": layer_norm(width)}
    return Module("Patches", tuple(tensors), named(parts), part="embedding")


def backbone(config: ModelConfig) -> Module:
    kind = config.model_type
    keys = ("hidden_sizes", "depths", "num_attention_heads", "mlp_ratios", REDUCTIONS[kind], "patch_sizes", "strides")
    widths, depths, heads, ratios, reductions, _, _ = lists(config, *keys)
    sources, count = (config.integer("num_channels"), *widths), len(widths)
    blocks = [layer(config, widths[i], heads[i], reductions[i], int(widths[i] * ratios[i])) for i in range(count)]
    fronts = [patches(config, i, sources[i], widths[i], i == count - 1) for i in range(count)]
    if kind == "pvt_v2":
        stages = [
            Module(
                "Stage",
                children=named(
                    {
                        "patch_embedding": fronts[i],
                        "blocks": uniform(blocks[i], depths[i]),
                        "layer_norm": layer_norm(widths[i]),
                    }
                ),
            )
            for i in range(count)
        ]
        return Module("Model", children=named({"encoder.layers": stack(*stages)}))
    norm: Module | Stack = layer_norm(config.integers("hidden_sizes")[-1])
    if kind == "glpn":
        norm = stack(*(layer_norm(width) for width in widths))
    parts: dict[str, Module | Stack | None] = {
        "encoder.patch_embeddings": stack(*fronts),
        "encoder.block": list_of_lists(*zip(blocks, depths, strict=True)),
        "encoder.layer_norm": norm,
    }
    return Module("Model", children=named(parts))


def depth_decoder(config: ModelConfig) -> dict[str, Module | Stack | None]:
    """GLPN: each stage, from the last, is mapped to one width and fused with what came before by learned weights."""
    width = config.integer("decoder_hidden_size")
    half = width // 2
    fusion = Module(
        "SelectiveFusion",
        children=named(
            {
                "convolutional_layer1": sequential(convolution(2 * width, width, (3, 3)), batch_norm(width)),
                "convolutional_layer2": sequential(convolution(width, half, (3, 3)), batch_norm(half)),
                "convolutional_layer3": convolution(half, 2, (3, 3)),
            }
        ),
    )
    stages = []
    for index, inputs in enumerate(reversed(config.integers("hidden_sizes"))):
        parts: dict[str, Module | Stack | None] = {
            "convolution": convolution(inputs, width, (1, 1)) if inputs != width else None,
            "fusion": fusion if index else None,
        }
        stages.append(Module("DecoderStage", children=named(parts)))
    depth = sequential(convolution(width, width, (3, 3)), None, convolution(width, 1, (3, 3)))
    decoder = Module("Decoder", children=(("stages", stack(*stages)),), part="head")
    return {"decoder": decoder, "head.head": depth.with_(part="head")}


def build(config: ModelConfig) -> Module:
    head, kind, model = head_name(config.architecture), config.model_type, backbone(config)
    if head == "Model" or (head == "Backbone" and kind == "pvt_v2"):
        return model
    if head == "ForDepthEstimation" and kind == "glpn":
        return Module(config.architecture, children=named({"glpn": model, **depth_decoder(config)}))
    if head == "ForImageClassification" and kind == "glpn":
        raise unknown_head(config.architecture)
    return with_image_classifier(config, model, config.integers("hidden_sizes")[-1])
