"""Fuyu: patches of pixels are projected straight into a Persimmon decoder."""

from __future__ import annotations

from neurarch_schemas.architectures.composite import text_model, with_output_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.layers import linear
from neurarch_schemas.modules.tree import Module

MODEL_TYPES = ("fuyu",)


def build(config: ModelConfig) -> Module:
    pixels = config.integer("patch_size") ** 2 * config.integer("num_channels")
    hidden = config.nested_config("text_config").integer("hidden_size")
    parts = {
        "language_model": text_model(config),
        "vision_embed_tokens": linear(pixels, hidden, part="projector"),
    }
    return with_output_head(config, {**parts})
