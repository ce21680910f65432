"""Swin2SR (arXiv:2209.11345): residual groups of Swin V2 layers at full resolution, and an upsampler."""

from __future__ import annotations

from neurarch_schemas.architectures import swin
from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.layers import convolution, layer_norm
from neurarch_schemas.modules.tree import Module, Stack, Tensor, named, stack
from neurarch_schemas.modules.vision import height_and_width, patch_grid, sequential
from neurarch_schemas.record import replace

MODEL_TYPES = ("swin2sr",)

# Fixed in the model code: channels of the upsamplers, and of the colours the auxiliary one reads.
UPSAMPLER_WIDTH = 64
COLOURS = 3


def smooth(inputs: int, outputs: int) -> Module:
    return convolution(inputs, outputs, (3, 3))


def group(config: ModelConfig, heads: int, depth: int) -> Module:
    """Layers, convolutions (one, or three with a bottleneck) and an embedding of the result."""
    width, kind = config.integer("embed_dim"), config.text("resi_connection")
    layer = swin.layer(replace(config, model_type="swinv2"), width, heads)
    narrow = width // 4
    bottleneck = sequential(
        smooth(width, narrow), None, convolution(narrow, narrow, (1, 1)), None, smooth(narrow, width)
    )
    parts: dict[str, Module | Stack | None] = {
        "layers": stack(layer, times=depth),
        "conv": {"1conv": smooth(width, width), "3conv": bottleneck}.get(kind),
        "patch_embed.projection": convolution(width, width, height_and_width(config, "patch_size")),
    }
    return Module("ResidualGroup", children=named(parts))


def backbone(config: ModelConfig) -> Module:
    width, depths, heads = config.integer("embed_dim"), config.counts("depths"), config.integers("num_heads")
    if len(heads) < len(depths) or len(depths) > swin.MOST_STAGES:
        raise CannotBuild("depths and num_heads must be equally long", ("depths", "num_heads"))
    tensors: tuple[Tensor, ...] = ()
    if config.flag("use_absolute_embeddings"):
        rows, columns = patch_grid(config)
        tensors = (Tensor("position_embeddings", (1, rows * columns + 1, width)),)
    table: dict[str, Module | Stack | None] = {
        "patch_embeddings.projection": convolution(width, width, height_and_width(config, "patch_size")),
        "patch_embeddings.layernorm": layer_norm(width),
    }
    parts: dict[str, Module | Stack | None] = {
        "first_convolution": smooth(config.integer("num_channels"), width),
        "embeddings": Module("Embeddings", tensors, named(table), part="embedding"),
        "encoder.stages": stack(*(group(config, heads[index], depth) for index, depth in enumerate(depths))),
        "layernorm": layer_norm(width),
        "conv_after_body": smooth(width, width),
    }
    return Module("Model", children=named(parts))


def shuffle(scale: int) -> dict[str, Module | Stack | None]:
    """Doublings by pixel shuffle, or one tripling."""
    width = UPSAMPLER_WIDTH
    if scale == 3:
        return {"upsample.convolution": smooth(width, 9 * width)}
    if scale < 1 or scale & (scale - 1):
        raise CannotBuild(f"an image cannot be made {scale} times as large, only 3 or a power of two", ("upscale",))
    return {f"upsample.convolution_{index}": smooth(width, 4 * width) for index in range(scale.bit_length() - 1)}


def upsampler(config: ModelConfig) -> Module | None:
    kind, scale, inner = config.get("upsampler"), config.integer("upscale"), UPSAMPLER_WIDTH
    width, outputs = config.integer("embed_dim"), config.integer("num_channels_out", config.integer("num_channels"))
    before, last = smooth(width, inner), smooth(inner, outputs)
    parts: dict[str, Module | Stack | None]
    if kind == "pixelshuffle":
        parts = {"conv_before_upsample": before, **shuffle(scale), "final_convolution": last}
    elif kind == "pixelshuffle_aux":
        channels = config.integer("num_channels")
        parts = {
            "conv_bicubic": smooth(channels, inner),
            "conv_before_upsample": before,
            "conv_aux": smooth(inner, channels),
            "conv_after_aux.0": smooth(COLOURS, inner),
            **shuffle(scale),
            "final_convolution": last,
        }
    elif kind == "pixelshuffledirect":
        parts = {"conv": smooth(width, scale * scale * outputs)}
    elif kind == "nearest+conv":
        if scale != 4:
            raise CannotBuild("the nearest+conv upsampler only enlarges four times", ("upscale",))
        steps: dict[str, Module | Stack | None] = {
            name: smooth(inner, inner) for name in ("conv_up1", "conv_up2", "conv_hr")
        }
        parts = {"conv_before_upsample": before, **steps, "final_convolution": last}
    else:
        return None
    return Module("Upsampler", children=named(parts), part="head")


def build(config: ModelConfig) -> Module:
    head, model = head_name(config.architecture), backbone(config)
    if head == "Model":
        return model
    if head != "ForImageSuperResolution":
        raise unknown_head(config.architecture)
    top = upsampler(config)
    parts: dict[str, Module | Stack | None] = {"swin2sr": model, "upsample": top}
    if top is None:
        outputs = config.integer("num_channels_out", config.integer("num_channels"))
        parts["final_convolution"] = smooth(config.integer("embed_dim"), outputs).with_(part="head")
    return Module(config.architecture, children=named(parts))
