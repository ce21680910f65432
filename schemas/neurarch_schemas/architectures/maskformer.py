"""MaskFormer (arXiv:2107.06278): a feature pyramid beside DETR's decoder, whose queries each give a mask."""

from __future__ import annotations

from neurarch_schemas.architectures.backbones import backbone
from neurarch_schemas.architectures.language_heads import head_name, label_count, unknown_head
from neurarch_schemas.architectures.mask2former import class_weights, mask_embedder
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.detection import self_attention
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import convolution, embedding, group_norm, layer_norm, linear
from neurarch_schemas.modules.tree import Module, Stack, named, stack
from neurarch_schemas.modules.vision import sequential
from neurarch_schemas.record import replace

MODEL_TYPES = ("maskformer",)


def smooth(inputs: int, outputs: int) -> Module:
    return sequential(convolution(inputs, outputs, (3, 3), bias=False), group_norm(outputs))


def pixel_decoder(config: ModelConfig, widths: tuple[int, ...]) -> Module:
    """From the coarsest feature map to the finest (arXiv:1612.03144)."""
    size = config.integer("fpn_feature_size")
    levels = []
    for width in reversed(widths[:-1]):
        lateral = sequential(convolution(width, size, (1, 1), bias=False), group_norm(size))
        levels.append(Module("PyramidLevel", children=(("proj", lateral), ("block", smooth(size, size)))))
    parts: dict[str, Module | Stack | None] = {
        "fpn.stem": smooth(widths[-1], size),
        "fpn.layers": stack(*levels),
        "mask_projection": convolution(size, config.integer("mask_feature_size"), (3, 3)),
    }
    return Module("PixelDecoder", children=named(parts))


def transformer(config: ModelConfig, features: int) -> Module:
    """Its own config is DETR's, of which the decoder alone is built."""
    hidden, heads = config.integer("d_model"), config.integer("decoder_attention_heads")
    layer: dict[str, Module | Stack | None] = {
        "self_attn": self_attention(hidden, heads),
        "self_attn_layer_norm": layer_norm(hidden),
        "encoder_attn": self_attention(hidden, heads),
        "encoder_attn_layer_norm": layer_norm(hidden),
        "mlp": mlp(hidden, config.integer("decoder_ffn_dim")),
        "final_layer_norm": layer_norm(hidden),
    }
    block = Module("DecoderLayer", children=named(layer))
    parts: dict[str, Module | Stack | None] = {
        "queries_embedder": embedding(config.integer("num_queries"), hidden),
        "input_projection": convolution(features, hidden, (1, 1)) if features != hidden else None,
        "decoder.layers": stack(block, times=config.integer("decoder_layers")),
        "decoder.layernorm": layer_norm(hidden),
    }
    return Module("TransformerModule", children=named(parts))


def as_maskformer_swin(config: ModelConfig) -> ModelConfig:
    """A Swin backbone is built by MaskFormer's own class, from its four stages."""
    nested = config.nested_config("backbone_config")
    if nested.model_type != "swin":
        return config
    setting = nested.settings["depths"]
    stages = setting._replace(name="out_indices", value=[1, 2, 3, 4])
    swin = replace(nested, model_type="maskformer-swin", settings={**nested.settings, "out_indices": stages})
    return replace(config, nested={**config.nested, "backbone_config": swin})


def build(config: ModelConfig) -> Module:
    head, own = head_name(config.architecture), config.nested_config("decoder_config")
    if own.model_type != "detr":
        raise CannotBuild(f"a decoder of type {own.model_type!r} is not known", ("decoder_config",))
    image, widths = backbone(as_maskformer_swin(config))
    parts: dict[str, Module | Stack | None] = {
        "pixel_level_module.encoder": image,
        "pixel_level_module.decoder": pixel_decoder(config, widths),
        "transformer_module": transformer(own, widths[-1]),
    }
    model = Module("Model", children=named(parts))
    if head == "Model":
        return model
    if head != "ForInstanceSegmentation":
        raise unknown_head(config.architecture)
    hidden, classes = own.integer("d_model"), label_count(config) + 1
    children: dict[str, Module | Stack | None] = {
        "model": model,
        "class_predictor": linear(hidden, classes, part="head"),
        "mask_embedder": mask_embedder(hidden, config.integer("mask_feature_size")).with_(part="head"),
        "criterion": class_weights(classes),
    }
    return Module(config.architecture, children=named(children))
