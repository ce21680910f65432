"""ModernVBERT and UltraVBERT: a SigLIP tower joined to a bidirectional text encoder, with a masked-language head."""

from __future__ import annotations

from neurarch_schemas.architectures.composite import projector, text_model, tower
from neurarch_schemas.architectures.language_heads import head_name, label_count, unknown_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import lm_head
from neurarch_schemas.modules.layers import layer_norm, linear, rms_norm
from neurarch_schemas.modules.tree import Module, children

MODEL_TYPES = ("modernvbert", "ultravbert")


def prediction_head(config: ModelConfig, text: ModelConfig) -> Module:
    hidden = text.integer("hidden_size")
    if config.model_type == "modernvbert":
        inside = children(
            dense=linear(hidden, hidden, text.flag("classifier_bias")),
            norm=layer_norm(hidden, bias=text.flag("norm_bias")),
        )
    else:
        inner = text.integer("prediction_head_size")
        inside = children(linear1=linear(hidden, inner, bias=False), linear2=linear(inner, hidden, bias=False))
    return Module("PredictionHead", children=inside, part="head")


def build(config: ModelConfig) -> Module:
    text, modern = config.nested_config("text_config"), config.model_type == "modernvbert"
    hidden = text.integer("hidden_size")
    joined = config.nested_config("vision_config").integer("hidden_size") * config.integer("pixel_shuffle_factor") ** 2
    connector = projector(
        {"modality_projection": linear(joined, hidden, bias=False), "norm": None if modern else rms_norm(hidden)}
    )
    backbone = Module(
        "Model",
        children=children(vision_model=tower(config), connector=connector, text_model=text_model(config)),
    )
    head = head_name(config.architecture)
    if head == "Model":
        return backbone
    if head in ("ForSequenceClassification", "ForTokenClassification"):
        top = prediction_head(config, text) if modern else None
        labels = linear(hidden, label_count(config), part="head")
        return Module(config.architecture, children=children(model=backbone, head=top, classifier=labels))
    if head != "ForMaskedLM":
        raise unknown_head(config.architecture)
    table = "embeddings.tok_embeddings.weight" if modern else "embed_tokens.weight"
    logits = lm_head(
        hidden,
        text.integer("vocab_size"),
        tied_to=f"model.text_model.{table}" if config.flag("tie_word_embeddings") else None,
        bias=modern and text.flag("decoder_bias"),
    )
    return Module(
        config.architecture,
        children=children(model=backbone, projection_head=prediction_head(config, text), lm_head=logits),
    )
