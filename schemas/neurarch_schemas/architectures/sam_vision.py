"""The image encoder of SAM, and GOT-OCR 2, which puts it in front of a language model.

Layers outside ``global_attn_indexes`` attend within windows; relative positions are sized by the window or the image.
"""

from __future__ import annotations

from neurarch_schemas.architectures.composite import projector, text_model, tower, with_output_head
from neurarch_schemas.architectures.language_heads import unknown_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.config.periods import at
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import convolution, layer_norm, linear
from neurarch_schemas.modules.tree import Module, Tensor, children
from neurarch_schemas.modules.vision import fused_vision_attention, height_and_width

MODEL_TYPES = ("sam_vision_model", "got_ocr2_vision", "got_ocr2", "pp_chart2table_vision", "pp_chart2table")

_WITH_LANGUAGE_MODEL = ("got_ocr2", "pp_chart2table")


def layer(config: ModelConfig, attends_globally: bool) -> Module:
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    window = 0 if attends_globally else config.integer("window_size")
    # A window of 0 means the whole image as well.
    side = window or config.integer("image_size") // config.integer("patch_size")
    relative = (
        Tensor("rel_pos_h", (2 * side - 1, hidden // heads)),
        Tensor("rel_pos_w", (2 * side - 1, hidden // heads)),
    )
    block = fused_vision_attention(
        hidden, heads, bias=config.flag("qkv_bias"), out_bias=True, position="relative"
    ).with_(tensors=relative if config.flag("use_rel_pos") else ())
    inner = config.integer("mlp_dim", int(hidden * config.number("mlp_ratio", 4.0)))
    return Module(
        "VisionLayer",
        children=children(
            layer_norm1=layer_norm(hidden),
            attn=block,
            layer_norm2=layer_norm(hidden),
            mlp=mlp(hidden, inner, names=("lin1", "lin2")),
        ),
    )


def neck(hidden: int, outputs: int) -> Module:
    """Two convolutions that narrow the features."""
    return Module(
        "Neck",
        children=children(
            conv1=convolution(hidden, outputs, (1, 1), bias=False),
            layer_norm1=layer_norm(outputs),
            conv2=convolution(outputs, outputs, (3, 3), bias=False),
            layer_norm2=layer_norm(outputs),
        ),
    )


def vision_encoder(config: ModelConfig) -> Module:
    hidden, outputs = config.integer("hidden_size"), config.integer("output_channels")
    side = config.integer("image_size") // config.integer("patch_size")
    pattern = at(config.integers("global_attn_indexes"), config.integer("num_hidden_layers"), True, False)
    positions = (Tensor("pos_embed", (1, side, side, hidden)),) if config.flag("use_abs_pos") else ()
    patches = convolution(config.integer("num_channels"), hidden, height_and_width(config, "patch_size"))
    return Module(
        "VisionEncoder",
        positions,
        children(
            patch_embed=Module("PatchEmbeddings", children=children(projection=patches), part="embedding"),
            layers=layers(pattern, lambda attends_globally: layer(config, attends_globally)),
            neck=neck(hidden, outputs),
        ),
        width_out=outputs,
    )


def upsampler(config: ModelConfig) -> Module:
    channels = config.nested_config("vision_config").integer("output_channels")
    hidden = config.nested_config("text_config").integer("hidden_size")
    return projector(
        {
            "conv_upsampler1": convolution(channels, 2 * channels, (3, 3), bias=False),
            "conv_upsampler2": convolution(2 * channels, hidden, (3, 3), bias=False),
            "multimodal_projector": linear(hidden, hidden),
        }
    )


def build(config: ModelConfig) -> Module:
    if config.architecture == "SamVisionEncoder":
        raise unknown_head(config.architecture)
    if config.model_type == "sam_vision_model":
        return Module("VisionModel", children=children(vision_encoder=vision_encoder(config)))
    if config.model_type not in _WITH_LANGUAGE_MODEL:
        return vision_encoder(config)
    parts = {
        "vision_tower": tower(config),
        "multi_modal_projector": upsampler(config),
        "language_model": text_model(config),
    }
    return with_output_head(config, {**parts})
