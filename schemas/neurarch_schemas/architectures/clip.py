"""CLIP, SigLIP and SigLIP 2: a text and a vision encoder in one space."""

from __future__ import annotations

from neurarch_schemas.architectures.clip_vision import vision_transformer
from neurarch_schemas.architectures.image_heads import classifier
from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import in_part, uniform
from neurarch_schemas.modules.layers import layer_norm, linear, position_embedding, token_embedding
from neurarch_schemas.modules.tree import Module, Stack, Tensor, named
from neurarch_schemas.modules.vision import clip_layer
from neurarch_schemas.record import replace

MODEL_TYPES = ("clip", "clip_text_model", "siglip", "siglip_text_model", "siglip2", "siglip2_text_model", "metaclip_2")


def text_transformer(config: ModelConfig, *, projection: int | None = None) -> Module:
    """Causal in CLIP, bidirectional in SigLIP, whose ``head`` maps to ``projection``."""
    hidden = config.integer("hidden_size")
    layer = clip_layer(hidden, config.integer("num_attention_heads"), config.integer("intermediate_size"))
    return Module(
        "TextModel",
        children=named(
            {
                "embeddings.token_embedding": token_embedding(config.integer("vocab_size"), hidden),
                "embeddings.position_embedding": position_embedding(config.integer("max_position_embeddings"), hidden),
                "encoder.layers": uniform(layer, config.integer("num_hidden_layers")),
                "final_layer_norm": layer_norm(hidden),
                "head": linear(hidden, projection, part="head") if projection is not None else None,
            }
        ),
        width_out=hidden,
    )


def siglip_projection(config: ModelConfig) -> int:
    return config.integer("projection_size", config.integer("hidden_size"))


def build(config: ModelConfig) -> Module:
    kind, head = config.model_type, head_name(config.architecture)
    siglip = kind.startswith("siglip")
    if kind.endswith("text_model"):
        if config.architecture.endswith("TextModelWithProjection") and not siglip:
            hidden = config.integer("hidden_size")
            projection = linear(hidden, config.integer("projection_dim"), bias=False, part="projector")
            parts: dict[str, Module | Stack | None] = {
                "text_model": text_transformer(config),
                "text_projection": projection,
            }
            return Module(config.architecture, children=named(parts))
        return text_transformer(config, projection=siglip_projection(config) if siglip else None)
    vision_config = config.nested_config("vision_config")
    if kind == "metaclip_2":  # CLIP's encoders under types of their own
        vision_config = replace(vision_config, model_type="clip_vision_model")
    vision_hidden = vision_config.integer("hidden_size")
    if head == "ForImageClassification":
        parts = {
            "vision_model": vision_transformer(vision_config),
            "classifier": classifier(config, vision_hidden),
        }
        return Module(config.architecture, children=named(parts))
    if head != "Model" or config.architecture.endswith(("TextModel", "VisionModel")):
        raise unknown_head(config.architecture)
    text_config = config.nested_config("text_config")
    text = text_transformer(text_config, projection=siglip_projection(text_config) if siglip else None)
    parts = {"text_model": text, "vision_model": in_part(vision_transformer(vision_config), "vision")}
    tensors: tuple[Tensor, ...] = (Tensor("logit_scale", (1,) if siglip else ()),)
    if siglip:
        tensors += (Tensor("logit_bias", (1,)),)
    else:
        width = config.integer("projection_dim")
        parts["visual_projection"] = linear(vision_hidden, width, bias=False, part="projector")
        text_hidden = text_config.integer("hidden_size")
        parts["text_projection"] = linear(text_hidden, width, bias=False, part="projector")
    return Module("Model", tensors, named(parts))
