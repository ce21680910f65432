"""Unlimited-OCR (after DeepSeek-OCR): SAM's encoder feeds CLIP's, both are projected into a language model."""

from __future__ import annotations

from neurarch_schemas.architectures.composite import text_model, tower, with_output_head
from neurarch_schemas.architectures.sam_vision import vision_encoder
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.layers import convolution, layer_norm, linear, position_embedding
from neurarch_schemas.modules.tree import Module, Stack, Tensor, children
from neurarch_schemas.modules.vision import clip_layer, patch_count

MODEL_TYPES = ("unlimited_ocr", "unlimited_ocr_vision")


def sam_encoder(config: ModelConfig) -> Module:
    channels = config.integers("downsample_channels")
    narrowing = Module(
        "Downsampling",
        children=children(
            conv1=convolution(config.integer("output_channels"), channels[0], (3, 3), bias=False),
            conv2=convolution(channels[0], channels[1], (3, 3), bias=False),
        ),
    )
    encoder = vision_encoder(config)
    return encoder.with_(children=(*encoder.children, ("proj", narrowing)))


def clip_encoder(config: ModelConfig) -> Module:
    """Without patches of its own: it reads SAM's features."""
    hidden = config.integer("hidden_size")
    layer = clip_layer(hidden, config.integer("num_attention_heads"), config.integer("intermediate_size"))
    embeddings = Module(
        "Embeddings",
        (Tensor("class_embedding", (hidden,)),),
        children(position_embedding=position_embedding(patch_count(config) + 1, hidden)),
        part="embedding",
    )
    encoder = Module("Encoder", children=children(layers=uniform(layer, config.integer("num_hidden_layers"))))
    return Module(
        "VisionEncoder", children=children(embeddings=embeddings, pre_layrnorm=layer_norm(hidden), encoder=encoder)
    )


def build(config: ModelConfig) -> Module:
    if config.model_type == "unlimited_ocr_vision":
        return Module(
            "VisionModel",
            children=children(
                sam_encoder=sam_encoder(config.nested_config("sam_config")),
                vision_encoder=clip_encoder(config.nested_config("encoder_config")),
            ),
        )
    vision, hidden = config.nested_config("vision_config"), config.nested_config("text_config").integer("hidden_size")
    features = vision.nested_config("sam_config").integers("downsample_channels")[-1]
    features += vision.nested_config("encoder_config").integer("hidden_size")
    parts: dict[str, Module | Stack | None] = {
        "vision_tower": tower(config),
        "multi_modal_projector": linear(features, hidden, part="projector"),
        "language_model": text_model(config),
    }
    separators = (Tensor("view_separator", (hidden,)), Tensor("image_newline", (hidden,)))
    return with_output_head(config, parts, tensors=separators)
