"""Mask2Former (arXiv:2112.01527): a deformable pixel decoder, and queries that attend within their own masks."""

from __future__ import annotations

from math import log2

from neurarch_schemas.architectures.backbones import backbone
from neurarch_schemas.architectures.language_heads import head_name, label_count, unknown_head
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.detection import deformable_attention
from neurarch_schemas.modules.encoder import encoder_attention
from neurarch_schemas.modules.layers import convolution, embedding, group_norm, layer_norm, linear
from neurarch_schemas.modules.tree import Module, Stack, Tensor, named, stack
from neurarch_schemas.modules.vision import sequential, torch_attention

MODEL_TYPES = ("mask2former",)

LEVELS, POINTS = 3, 4
"""Scales that the transformers read, and sampled places for each; fixed in the class."""


def pixel_layer(config: ModelConfig, hidden: int) -> Module:
    inner = config.integer("encoder_feedforward_dim")
    parts: dict[str, Module | Stack | None] = {
        "self_attn": deformable_attention(hidden, config.integer("num_attention_heads"), LEVELS * POINTS),
        "self_attn_layer_norm": layer_norm(hidden),
        "fc1": linear(hidden, inner, part="feed-forward"),
        "fc2": linear(inner, hidden, part="feed-forward"),
        "final_layer_norm": layer_norm(hidden),
    }
    return Module("EncoderLayer", children=named(parts))


def finer_levels(config: ModelConfig, key: str) -> int:
    """How many feature maps are finer than what the transformers read, down to ``common_stride``."""
    common, strides = config.integer("common_stride"), config.integers(key)[-LEVELS:]
    if common < 1 or min(strides) < 1:
        raise CannotBuild("strides must be positive", ("common_stride", key))
    return int(log2(min(strides)) - log2(common))


def pixel_decoder(config: ModelConfig, widths: tuple[int, ...], *, hidden: int, masks: int, strides: str) -> Module:
    """Attention over the coarsest scales, then a pyramid to the finer ones; ``strides`` is the key of all strides."""
    projections = [
        sequential(convolution(width, hidden, (1, 1)), group_norm(hidden)) for width in reversed(widths[-LEVELS:])
    ]
    parts: dict[str, Module | Stack | None] = {
        "input_projections": stack(*projections),
        "encoder.layers": stack(pixel_layer(config, hidden), times=config.integer("encoder_layers")),
        "mask_projection": convolution(hidden, masks, (1, 1)),
    }
    for number, width in enumerate(widths[: finer_levels(config, strides)], start=1):
        lateral = convolution(width, hidden, (1, 1), bias=False)
        output = convolution(hidden, hidden, (3, 3), bias=False)
        parts[f"adapter_{number}"] = sequential(lateral, group_norm(hidden))
        parts[f"layer_{number}"] = sequential(output, group_norm(hidden))
    return Module("PixelDecoder", (Tensor("level_embed", (LEVELS, hidden)),), named(parts))


def decoder_layer(config: ModelConfig) -> Module:
    hidden, heads, inner = (config.integer(k) for k in ("hidden_dim", "num_attention_heads", "dim_feedforward"))
    parts: dict[str, Module | Stack | None] = {
        "self_attn": encoder_attention(hidden, heads),
        "self_attn_layer_norm": layer_norm(hidden),
        "cross_attn": torch_attention(hidden, heads),
        "cross_attn_layer_norm": layer_norm(hidden),
        "fc1": linear(hidden, inner, part="feed-forward"),
        "fc2": linear(inner, hidden, part="feed-forward"),
        "final_layer_norm": layer_norm(hidden),
    }
    return Module("DecoderLayer", children=named(parts))


def mask_embedder(hidden: int, outputs: int) -> Module:
    """Three linear maps, each in a block with its activation."""
    return sequential(*(sequential(linear(hidden, width)) for width in (hidden, hidden, outputs)))


def transformer(config: ModelConfig) -> Module:
    hidden, features = config.integer("hidden_dim"), config.integer("feature_size")
    queries = config.integer("num_queries")
    projects = features != hidden or config.flag("enforce_input_projection")
    decoder: dict[str, Module | Stack | None] = {
        "layers": stack(decoder_layer(config), times=config.integer("decoder_layers") - 1),
        "layernorm": layer_norm(hidden),
        "mask_predictor.mask_embedder": mask_embedder(hidden, config.integer("mask_feature_size")),
    }
    parts: dict[str, Module | Stack | None] = {
        "queries_embedder": embedding(queries, hidden),
        "queries_features": embedding(queries, hidden),
        "input_projections": stack(convolution(features, hidden, (1, 1)), times=LEVELS) if projects else None,
        "decoder": Module("Decoder", children=named(decoder)),
        "level_embed": embedding(LEVELS, hidden),
    }
    return Module("TransformerModule", children=named(parts))


def class_weights(classes: int) -> Module:
    """The loss keeps the weight of each class, the last being "no object"."""
    return Module("Loss", (Tensor("empty_weight", (classes,), "buffer"),))


def build(config: ModelConfig) -> Module:
    head = head_name(config.architecture)
    image, widths = backbone(config)
    features, masks = config.integer("feature_size"), config.integer("mask_feature_size")
    parts: dict[str, Module | Stack | None] = {
        "pixel_level_module.encoder": image,
        "pixel_level_module.decoder": pixel_decoder(
            config, widths, hidden=features, masks=masks, strides="feature_strides"
        ),
        "transformer_module": transformer(config),
    }
    model = Module("Model", children=named(parts))
    if head == "Model":
        return model
    if head != "ForUniversalSegmentation":
        raise unknown_head(config.architecture)
    classes = label_count(config) + 1
    output = linear(config.integer("hidden_dim"), classes, part="head")
    return Module(
        config.architecture,
        children=named({"model": model, "class_predictor": output, "criterion": class_weights(classes)}),
    )
