"""PaliGemma and Gemma 3 (with images): a SigLIP tower, one linear map, a Gemma language model."""

from __future__ import annotations

from neurarch_schemas.architectures.composite import GENERATING, projector, text_model, tower, with_output_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.layers import linear, rms_norm
from neurarch_schemas.modules.tree import Module, Tensor
from neurarch_schemas.record import replace

MODEL_TYPES = ("paligemma", "gemma3", "shieldgemma2")


def multimodal_projector(config: ModelConfig) -> Module:
    features = config.nested_config("vision_config").integer("hidden_size")
    if config.model_type == "paligemma":
        return projector({"linear": linear(features, config.integer("projection_dim"))})
    hidden = config.nested_config("text_config").integer("hidden_size")
    weight = Tensor("mm_input_projection_weight", (features, hidden))
    built = projector({"mm_soft_emb_norm": rms_norm(features)}, tensors=(weight,))
    return built.with_(multiply_accumulates=features * hidden)


def build(config: ModelConfig) -> Module:
    """ShieldGemma 2 judges images by two logits of the whole generating class, which it wraps."""
    if config.model_type == "shieldgemma2" and config.architecture == "ShieldGemma2ForImageClassification":
        judge = build(replace(config, architecture="Gemma3ForConditionalGeneration"))
        return Module(config.architecture, children=(("model", judge),))
    parts = {
        "vision_tower": tower(config),
        "multi_modal_projector": multimodal_projector(config),
        "language_model": text_model(config),
    }
    heads = (*GENERATING, "ForSequenceClassification") if config.model_type == "gemma3" else GENERATING
    return with_output_head(config, {**parts}, heads=heads)
