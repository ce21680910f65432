"""Unlimited-OCR (after DeepSeek-OCR) and DeepSeek-OCR 2: SAM's encoder feeds a second one, then a language model.

The second encoder is CLIP's, and both are projected; in DeepSeek-OCR 2 it is a Qwen2 with queries, projected alone.
"""

from __future__ import annotations

from neurarch_schemas.architectures.composite import text_model, tower, with_output_head
from neurarch_schemas.architectures.decoder import decoder_layer, feed_forward, self_attention
from neurarch_schemas.architectures.sam_vision import vision_encoder
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import layers, uniform
from neurarch_schemas.modules.layers import convolution, embedding, layer_norm, linear, position_embedding, rms_norm
from neurarch_schemas.modules.tree import Module, Stack, Tensor, children
from neurarch_schemas.modules.vision import clip_layer, patch_count

MODEL_TYPES = ("unlimited_ocr", "unlimited_ocr_vision", "deepseek_ocr2", "deepseek_ocr2_vision")

_QUERIES = {"query_768_resolution": 144, "query_1024_resolution": 256}
"""Learned queries for the two sizes of a picture."""


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


def query_encoder(config: ModelConfig) -> Module:
    hidden = config.integer("hidden_size")

    def layer(window: int | None) -> Module:
        mixer = self_attention(config, window, bias=True, out_bias=False, kind="encoder", cached=False)
        return decoder_layer(hidden, mixer, feed_forward(config))

    return Module("VisionEncoder", children=children(layers=layers(config.windows(), layer), norm=rms_norm(hidden)))


def query_vision_model(config: ModelConfig) -> Module:
    encoder = config.nested_config("encoder_config")
    hidden = encoder.integer("hidden_size")
    queries = {name: embedding(count, hidden) for name, count in _QUERIES.items()}
    return Module(
        "VisionModel",
        children=children(
            sam_encoder=sam_encoder(config.nested_config("sam_config")),
            vision_encoder=query_encoder(encoder),
            **queries,
        ),
        width_out=hidden,
    )


def build(config: ModelConfig) -> Module:
    if config.model_type == "deepseek_ocr2_vision":
        return query_vision_model(config)
    if config.model_type == "unlimited_ocr_vision":
        return Module(
            "VisionModel",
            children=children(
                sam_encoder=sam_encoder(config.nested_config("sam_config")),
                vision_encoder=clip_encoder(config.nested_config("encoder_config")),
            ),
        )
    vision, hidden = config.nested_config("vision_config"), config.nested_config("text_config").integer("hidden_size")
    features = vision.nested_config("encoder_config").integer("hidden_size")
    if config.model_type == "unlimited_ocr":
        features += vision.nested_config("sam_config").integers("downsample_channels")[-1]
    parts: dict[str, Module | Stack | None] = {
        "vision_tower": tower(config),
        "multi_modal_projector": linear(features, hidden, part="projector"),
        "language_model": text_model(config),
    }
    names = ("view_separator", "image_newline") if config.model_type == "unlimited_ocr" else ("view_separator",)
    separators = tuple(Tensor(name, (hidden,)) for name in names)
    return with_output_head(config, parts, tensors=separators)
