"""LFM2-VL and LFM3-VL: a SigLIP 2 tower, or one of short convolutions and attention; a projector that joins patches."""

from __future__ import annotations

from neurarch_schemas.architectures.composite import (
    projector,
    text_model,
    tower,
    two_layer_projector,
    with_output_head,
)
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.documents.json_value import JSONScalar
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.attention import attention
from neurarch_schemas.modules.feed_forward import gated_mlp
from neurarch_schemas.modules.layers import convolution, layer_norm, linear, rms_norm
from neurarch_schemas.modules.tree import Module, Stack, children

MODEL_TYPES = ("lfm2_vl", "lfm3_vl", "lfm3_vl_vision")


def spatial_convolution(hidden: int, kernel: int) -> Module:
    """The gated convolution of LFM2 over two dimensions of an image."""
    return Module(
        "SpatialConvolution",
        children=children(
            in_proj=linear(hidden, 3 * hidden, bias=False),
            spatial_conv=convolution(hidden, hidden, (kernel, kernel), bias=False, groups=hidden),
            out_proj=linear(hidden, hidden, bias=False),
        ),
        part="convolution",
    )


def vision_layer(config: ModelConfig, kind: JSONScalar) -> Module:
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    norm = rms_norm(hidden // heads)
    block = attention(
        hidden,
        heads,
        config.integer("num_key_value_heads"),
        hidden // heads,
        names=("q_proj", "k_proj", "v_proj", "out_proj"),
        extra={"q_norm": norm, "k_norm": norm},
        kind="encoder",
        cached=False,
        qk_norm=True,
    )
    return Module(
        "VisionLayer",
        children=children(
            self_attn=None if kind == "conv" else block,
            conv=spatial_convolution(hidden, config.integer("conv_kernel_size")) if kind == "conv" else None,
            feed_forward=gated_mlp(hidden, config.integer("intermediate_size"), names=("w1", "w3", "w2")),
            operator_norm=rms_norm(hidden),
            ffn_norm=rms_norm(hidden),
        ),
    )


def vision_model(config: ModelConfig) -> Module:
    hidden = config.integer("hidden_size")
    pixels = config.integer("in_channels") * config.integer("temporal_patch_size") * config.integer("patch_size") ** 2
    return Module(
        "VisionModel",
        children=children(
            patch_embed=linear(pixels, hidden, bias=False, part="embedding"),
            embedding_norm=rms_norm(hidden),
            layers=layers(config.layers("layer_types"), lambda kind: vision_layer(config, kind)),
        ),
        width_out=hidden,
    )


def multimodal_projector(config: ModelConfig) -> Module:
    vision = config.nested_config("vision_config")
    features, hidden = vision.integer("hidden_size"), config.nested_config("text_config").integer("hidden_size")
    norm: Module | None
    if config.model_type == "lfm2_vl":
        joined = features * config.integer("downsample_factor") ** 2
        norm = layer_norm(joined) if config.flag("projector_use_layernorm") else None
    else:
        joined = features * vision.integer("spatial_merge_size") ** 2
        norm = layer_norm(features)
    parts: dict[str, Module | Stack | None] = {"layer_norm": norm}
    inner, bias = config.integer("projector_hidden_size"), config.flag("projector_bias")
    return projector({**parts, **two_layer_projector(joined, hidden, bias=bias, inner=inner)})


def build(config: ModelConfig) -> Module:
    if config.model_type == "lfm3_vl_vision":
        return vision_model(config)
    parts = {
        "vision_tower": tower(config),
        "multi_modal_projector": multimodal_projector(config),
        "language_model": text_model(config),
    }
    return with_output_head(config, {**parts})
