"""DeepSeek-VL: a SigLIP tower, in the hybrid also SAM's encoder for high resolution, a two-layer aligner, Llama."""

from __future__ import annotations

from neurarch_schemas.architectures.composite import (
    projector,
    text_model,
    tower,
    two_layer_projector,
    with_output_head,
)
from neurarch_schemas.architectures.sam_vision import neck
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import in_part
from neurarch_schemas.modules.layers import convolution, linear
from neurarch_schemas.modules.tree import Module, Stack, Tensor, children

MODEL_TYPES = ("deepseek_vl", "deepseek_vl_hybrid")


def high_resolution(config: ModelConfig) -> dict[str, Module | Stack | None]:
    """The second encoder with a second neck and two strided convolutions."""
    sam = config.nested_config("high_res_vision_config")
    width, channels = sam.integer("hidden_size"), sam.integer("output_channels")
    narrowing = Module(
        "Downsampling",
        children=children(
            conv1=convolution(channels, 2 * channels, (3, 3), bias=False),
            conv2=convolution(2 * channels, 4 * channels, (3, 3), bias=False),
        ),
    )
    return {
        "high_res_vision_model": tower(config, "high_res_vision_config"),
        "high_res_vision_neck": in_part(neck(width, channels), "vision"),
        "high_res_vision_proj": in_part(narrowing, "vision"),
    }


def build(config: ModelConfig) -> Module:
    features = config.nested_config("vision_config").integer("hidden_size")
    hidden = config.nested_config("text_config").integer("hidden_size")
    if config.model_type == "deepseek_vl":
        aligner = projector(two_layer_projector(features, hidden, names=("linear1", "linear2")))
        parts = {"vision_model": tower(config), "aligner": aligner, "language_model": text_model(config)}
        return with_output_head(config, {**parts})
    channels = config.nested_config("high_res_vision_config").integer("output_channels")
    joined = {
        "vision_proj": linear(features, hidden // 2),
        "high_res_vision_proj": linear(4 * channels, hidden // 2),
        "proj": linear(hidden, hidden),
    }
    return with_output_head(
        config,
        {
            **high_resolution(config),
            "vision_model": tower(config),
            "aligner": projector({**joined}),
            "language_model": text_model(config),
        },
        tensors=(Tensor("high_res_vision_alpha", (1,)),),
    )
