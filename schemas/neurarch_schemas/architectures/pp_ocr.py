"""PP-OCR: text recognition by SVTR (arXiv:2205.00159) over a convolutional backbone, and text detection."""

from __future__ import annotations

from neurarch_schemas.architectures import build_nested, pp_lcnet
from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import in_part, uniform
from neurarch_schemas.modules.convolution_stages import convolution_norm
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import batch_norm, convolution, layer_norm, linear, transposed_convolution
from neurarch_schemas.modules.tree import Module, Stack, named, stack
from neurarch_schemas.modules.vision import fused_vision_attention

MODEL_TYPES = (
    "pp_ocrv5_mobile_rec",
    "pp_ocrv5_server_rec",
    "pp_ocrv6_small_rec",
    "pp_ocrv6_tiny_rec",
    "pp_ocrv6_small_det",
)

TINY_KERNEL = 5


def feature_width(config: ModelConfig) -> int:
    """Channels that the backbone's last stage gives to the head."""
    backbone = config.nested_config("backbone_config")
    if config.model_type == "pp_ocrv5_server_rec":
        return backbone.integers("stage_out_channels")[-1]
    if config.model_type == "pp_ocrv5_mobile_rec":
        return pp_lcnet.scaled(backbone, pp_lcnet.last_width(backbone))
    return pp_lcnet.last_width(backbone)


def unit(inputs: int, outputs: int, kernel: tuple[int, ...], groups: int = 1) -> Module:
    parts = {
        "convolution": convolution(inputs, outputs, kernel, bias=False, groups=groups),
        "normalization": batch_norm(outputs),
    }
    return Module("ConvNorm", children=named(parts), part="convolution")


def mixing_layer(config: ModelConfig) -> Module:
    hidden = config.integer("hidden_size")
    attention = fused_vision_attention(
        hidden,
        config.integer("num_attention_heads"),
        bias=config.flag("qkv_bias"),
        out_bias=True,
        names=("qkv", "projection"),
        position="none",
    )
    parts: dict[str, Module | Stack | None] = {
        "self_attn": attention,
        "layer_norm1": layer_norm(hidden),
        "mlp": mlp(hidden, int(hidden * config.number("mlp_ratio"))),
        "layer_norm2": layer_norm(hidden),
    }
    return Module("EncoderLayer", children=named(parts))


def encoder(config: ModelConfig) -> Module:
    """Convolutions to a narrow width, mixing layers, and (version 5) back to join the features."""
    width, hidden, kernel = feature_width(config), config.integer("hidden_size"), config.integers("conv_kernel_size")
    if len(kernel) != 2:
        raise CannotBuild("conv_kernel_size must be a pair", ("conv_kernel_size",))
    if config.model_type == "pp_ocrv6_small_rec":
        convolutions = stack(
            unit(width, hidden, (1, 1)), unit(width, hidden, (1, 1)), unit(hidden, hidden, kernel, groups=hidden)
        )
    else:
        narrow = width // 8
        convolutions = stack(
            unit(width, narrow, kernel),
            unit(narrow, hidden, (1, 1)),
            unit(hidden, width, (1, 1)),
            unit(2 * width, narrow, kernel),
            unit(narrow, hidden, (1, 1)),
        )
    parts: dict[str, Module | Stack | None] = {
        "conv_block": convolutions,
        "svtr_block": uniform(mixing_layer(config), config.integer("depth")),
        "norm": layer_norm(hidden),
    }
    return Module("Encoder", children=named(parts))


def recognition_head(config: ModelConfig) -> Module:
    """Characters for each column of features; the tiny model has convolutions in place of the encoder."""
    hidden, outputs = config.integer("hidden_size"), config.integer("head_out_channels")
    if config.model_type != "pp_ocrv6_tiny_rec":
        top = linear(hidden, outputs, part="head")
        return Module("RecognitionHead", children=(("encoder", encoder(config)), ("head", top)))
    width = feature_width(config)
    parts: dict[str, Module | Stack | None] = {
        "conv1": convolution(width, width, (TINY_KERNEL,), bias=False, groups=width),
        "norm1": batch_norm(width),
        "conv2": convolution(width, width, (1,), bias=False),
        "norm2": batch_norm(width),
        "fc1": linear(width, hidden),
        "fc2": linear(hidden, outputs),
    }
    return Module("RecognitionHead", children=named(parts), part="head")


def squeeze_excitation(channels: int, reduction: int) -> Module:
    narrow = channels // reduction
    parts = {"conv1": convolution(channels, narrow, (1, 1)), "conv2": convolution(narrow, channels, (1, 1))}
    return Module("SqueezeExcitation", children=named(parts))


def detection_neck(config: ModelConfig) -> Module:
    """Every stage's features to one width, then to a quarter of it."""
    width, reduction = config.integer("neck_out_channels"), config.integer("reduction")
    kernel = config.integer("dilated_kernel_size")
    inserted = []
    for channels in config.integers("layer_list_out_channels"):
        parts: dict[str, Module | Stack | None] = {
            "in_conv": convolution(channels, width, (1, 1), bias=False),
            "squeeze_excitation_block": squeeze_excitation(width, reduction),
        }
        inserted.append(Module("ResidualGate", children=named(parts)))
    parts = {
        "depthwise_convolution": convolution(width, width, (kernel, kernel), groups=width),
        "squeeze_excitation_module": squeeze_excitation(width // 4, reduction),
        "pointwise_convolution": convolution(width, width // 4, (1, 1), bias=False),
    }
    narrowed = Module("SeparableConvolution", children=named(parts))
    return Module(
        "Neck",
        children=(("insert_conv", stack(*inserted)), ("input_conv", uniform(narrowed, len(inserted)))),
        part="projector",
    )


def detection_head(config: ModelConfig) -> Module:
    """A map of text, enlarged four times."""
    width, (first, second, third) = config.integer("neck_out_channels"), config.integers("kernel_list")[:3]
    narrow = width // 4
    parts: dict[str, Module | Stack | None] = {
        "conv_down": convolution_norm(width, narrow, first, names=("convolution", "norm")),
        "conv_up.convolution": transposed_convolution(narrow, narrow, (second, second)),
        "conv_up.norm": batch_norm(narrow),
        "conv_final": transposed_convolution(narrow, 1, (third, third)),
    }
    return Module("DetectionHead", children=named(parts), part="head")


def build(config: ModelConfig) -> Module:
    head, detects = head_name(config.architecture), config.model_type.endswith("_det")
    parts: dict[str, Module | Stack | None] = {
        "backbone": in_part(build_nested(config, "backbone_config"), "vision"),
        "neck": detection_neck(config) if detects else None,
    }
    model = Module("Model", children=named(parts))
    if head == "Model":
        return model
    if head != ("ForObjectDetection" if detects else "ForTextRecognition"):
        raise unknown_head(config.architecture)
    top = detection_head(config) if detects else recognition_head(config)
    return Module(config.architecture, children=(("model", model), ("head", top)))
