"""PaddleOCR-VL: a SigLIP encoder with rotary positions, a projector that joins patches, an ERNIE 4.5 language model."""

from __future__ import annotations

from neurarch_schemas.architectures.clip_vision import vision_transformer
from neurarch_schemas.architectures.composite import (
    either_tied,
    projector,
    text_model,
    tower,
    two_layer_projector,
    with_output_head,
)
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.layers import layer_norm
from neurarch_schemas.modules.tree import Module, children

MODEL_TYPES = ("paddleocr_vl", "paddleocr_vl_vision")


def build(config: ModelConfig) -> Module:
    if config.model_type == "paddleocr_vl_vision":
        model = vision_transformer(config)
        whole = config.architecture.endswith("VisionTransformer")
        return model if whole else Module("VisionModel", children=children(vision_model=model))
    vision = config.nested_config("vision_config")
    features, hidden = vision.integer("hidden_size"), config.nested_config("text_config").integer("hidden_size")
    joined = features * vision.integer("spatial_merge_size") ** 2
    parts = {
        "visual": tower(config),
        "language_model": text_model(config),
        "projector": projector({"pre_norm": layer_norm(features), **two_layer_projector(joined, hidden, inner=joined)}),
    }
    return with_output_head(config, {**parts}, tied=either_tied(config))
