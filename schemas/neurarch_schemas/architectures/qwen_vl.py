"""Qwen2-VL to Qwen3.5, GLM-4V and others alike: a vision encoder that ends in a merger, and a language model."""

from __future__ import annotations

from neurarch_schemas.architectures.composite import GENERATING, either_tied, text_model, tower, with_output_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.tree import Module

MODEL_TYPES = (
    "qwen2_vl",
    "qwen2_5_vl",
    "qwen3_vl",
    "qwen3_vl_moe",
    "qwen3_5",
    "qwen3_5_moe",
    "qwen4_exp",
    "glm4v",
    "glm4v_moe",
    "glm46v",
    "glmga",
    "glm_ocr",
    "glm5_next",
    "exaone4_5",
    "cosmos3_omni",
    "cohere_compass",
)

_TIED_LIKE_TEXT = ("qwen2_vl", "qwen2_5_vl")


def build(config: ModelConfig) -> Module:
    parts = {"visual": tower(config), "language_model": text_model(config)}
    tied = either_tied(config) if config.model_type in _TIED_LIKE_TEXT else None
    heads: tuple[str, ...] = GENERATING
    if config.model_type == "qwen3_5":
        heads += ("ForSequenceClassification", "ForTokenClassification")
    return with_output_head(config, {**parts}, tied=tied, heads=heads)
