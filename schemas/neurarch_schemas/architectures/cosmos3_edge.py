"""Cosmos 3 Edge: a SigLIP 2 encoder, a merger of neighbouring patches, a language model.

The output head is never tied: the class declares no tied weights.
"""

from __future__ import annotations

from neurarch_schemas.architectures.composite import (
    projector,
    text_model,
    tower,
    two_layer_projector,
    with_output_head,
)
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.layers import layer_norm
from neurarch_schemas.modules.tree import Module

MODEL_TYPES = ("cosmos3_edge",)


def build(config: ModelConfig) -> Module:
    vision, hidden = config.nested_config("vision_config"), config.nested_config("text_config").integer("hidden_size")
    features = vision.integer("hidden_size")
    joined = features * vision.integer("spatial_merge_size") ** 2
    inner, names = config.integer("projector_hidden_size"), ("linear_fc1", "linear_fc2")
    merger = {"norm": layer_norm(features), **two_layer_projector(joined, hidden, inner=inner, names=names)}
    parts = {"visual": tower(config), "language_model": text_model(config), "projector": projector(merger)}
    return with_output_head(config, {**parts}, tied=False)
