"""MiniCPM-V 4.6 and 4.7, MiniCPM-OCR: a SigLIP encoder that merges windows half-way, a merger, a language model."""

from __future__ import annotations

from neurarch_schemas.architectures.clip_vision import vision_transformer
from neurarch_schemas.architectures.composite import projector, text_model, tower, with_output_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.layers import layer_norm, linear
from neurarch_schemas.modules.tree import Module, children, concatenate
from neurarch_schemas.modules.vision import height_and_width, vision_attention

MODEL_TYPES = (
    "minicpmv4_6",
    "minicpmv4_6_vision",
    "minicpmv4_7",
    "minicpmv4_7_vision",
    "minicpm_ocr",
    "minicpm_ocr_vision",
)

_MERGED = 4
"""Patches that one step of the last merger joins, whatever ``merge_kernel_size`` says."""


def window_merger(config: ModelConfig) -> Module:
    """Attention within windows, then one token for each window."""
    hidden = config.integer("hidden_size")
    rows, columns = height_and_width(config, "window_kernel_size")
    joined, inner = hidden * rows * columns, config.integer("intermediate_size") * rows * columns
    return Module(
        "WindowMerger",
        children=children(
            self_attn=vision_attention(hidden, config.integer("num_attention_heads")),
            layer_norm1=layer_norm(hidden),
            pre_norm=layer_norm(joined),
            linear_1=linear(joined, inner),
            linear_2=linear(inner, hidden),
        ),
    )


def vision_model(config: ModelConfig) -> Module:
    encoder = vision_transformer(config)
    return encoder.with_(children=(*encoder.children, ("vit_merger", window_merger(config))))


def downsampling(features: int, outputs: int) -> Module:
    joined = _MERGED * features
    return Module(
        "Downsampling",
        children=children(
            pre_norm=layer_norm(joined), linear_1=linear(joined, joined), linear_2=linear(joined, outputs)
        ),
    )


def build(config: ModelConfig) -> Module:
    if config.model_type.endswith("_vision"):
        return vision_model(config)
    features = config.nested_config("vision_config").integer("hidden_size")
    hidden, times = config.nested_config("text_config").integer("hidden_size"), config.integer("merger_times")
    steps = concatenate(
        uniform(downsampling(features, features), times - 1), uniform(downsampling(features, hidden), 1)
    )
    parts = {
        "vision_tower": tower(config),
        "language_model": text_model(config),
        "merger": projector({"mlp": steps}),
    }
    return with_output_head(config, {**parts})
