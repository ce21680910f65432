"""PerceptionLM and FastVLM: a network of the timm library, a two-layer projector, a language model."""

from __future__ import annotations

from neurarch_schemas.architectures.composite import (
    either_tied,
    projector,
    text_model,
    tower,
    two_layer_projector,
    with_output_head,
)
from neurarch_schemas.architectures.timm_wrapper import number
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.tree import Module, Stack

MODEL_TYPES = ("perception_lm", "fast_vlm")


def build(config: ModelConfig) -> Module:
    """FastVLM is tied as soon as either config says so, PerceptionLM by the text config unless its own decides."""
    vision, text = config.nested_config("vision_config"), config.nested_config("text_config")
    hidden, tied, bias = text.integer("hidden_size"), either_tied(config), True
    if config.model_type == "fast_vlm":
        features, bias = vision.integer("hidden_size"), config.flag("multimodal_projector_bias")
    else:
        features = number(vision.mapping("model_args"), "embed_dim", 0)
        if config.is_set("tie_word_embeddings"):
            tied = config.flag("tie_word_embeddings")
    parts: dict[str, Module | Stack | None] = {
        "vision_tower": tower(config),
        "multi_modal_projector": projector(two_layer_projector(features, hidden, bias=bias)),
        "language_model": text_model(config),
    }
    return with_output_head(config, parts, tied=tied)
