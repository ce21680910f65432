"""ALIGN (arXiv:2102.05918): BERT and EfficientNet in one space; only the text is projected."""

from __future__ import annotations

from neurarch_schemas.architectures import efficientnet
from neurarch_schemas.architectures.bert import pooler
from neurarch_schemas.architectures.contrastive import bert_text
from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import in_part
from neurarch_schemas.modules.layers import linear
from neurarch_schemas.modules.tree import Module, Stack, Tensor, named

MODEL_TYPES = ("align",)


def text_model(config: ModelConfig) -> Module:
    return bert_text(config, "encoder.layer", pooler=pooler(config.integer("hidden_size")))


def build(config: ModelConfig) -> Module:
    if head_name(config.architecture) != "Model" or config.architecture.endswith(("TextModel", "VisionModel")):
        raise unknown_head(config.architecture)
    text, vision = config.nested_config("text_config"), config.nested_config("vision_config")
    projection = linear(text.integer("hidden_size"), config.integer("projection_dim"), part="projector")
    parts: dict[str, Module | Stack | None] = {
        "text_model": text_model(text),
        "vision_model": in_part(efficientnet.backbone(vision, with_top=False), "vision"),
        "text_projection": projection,
    }
    return Module("Model", (Tensor("temperature", ()),), named(parts))
