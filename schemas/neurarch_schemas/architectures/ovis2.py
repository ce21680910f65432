"""Ovis 2: a tower that turns patches into distributions over a visual vocabulary, and a table of visual embeddings."""

from __future__ import annotations

from neurarch_schemas.architectures.composite import text_model, tower, with_output_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.feed_forward import gated_mlp
from neurarch_schemas.modules.layers import (
    convolution,
    embedding,
    layer_norm,
    linear,
    position_embedding,
    rms_norm,
)
from neurarch_schemas.modules.tree import Module, children
from neurarch_schemas.modules.vision import height_and_width, patch_count, vision_attention

MODEL_TYPES = ("ovis2", "ovis2_vision")


def vision_model(config: ModelConfig) -> Module:
    hidden = config.integer("hidden_size")
    layer = Module(
        "EncoderLayer",
        children=children(
            attention=vision_attention(hidden, config.integer("num_attention_heads"), bias=config.flag("qkv_bias")),
            ffn=gated_mlp(hidden, config.integer("intermediate_size"), config.flag("mlp_bias")),
            rms_norm1=rms_norm(hidden),
            rms_norm2=rms_norm(hidden),
        ),
    )
    embeddings = Module(
        "Embeddings",
        children=children(
            patch_embedding=convolution(config.integer("num_channels"), hidden, height_and_width(config, "patch_size")),
            position_embedding=position_embedding(patch_count(config), hidden),
            rms_norm=rms_norm(hidden),
        ),
        part="embedding",
    )
    transformer = Module(
        "VisionTransformer",
        children=children(
            embeddings=embeddings,
            encoder=Module("Encoder", children=children(layers=uniform(layer, config.integer("num_hidden_layers")))),
            rms_norm=rms_norm(hidden),
        ),
    )
    words = config.integer("vocab_size") - config.integer("num_visual_indicator_tokens")
    joined = hidden * config.integer("hidden_stride") ** 2
    return Module(
        "VisionModel",
        children=children(
            transformer=transformer, head_linear=linear(joined, words, bias=False), head_norm=layer_norm(words)
        ),
    )


def build(config: ModelConfig) -> Module:
    if config.model_type == "ovis2_vision":
        return vision_model(config)
    visual_words = config.nested_config("vision_config").integer("vocab_size")
    parts = {
        "vision_tower": tower(config),
        "language_model": text_model(config),
        "visual_embeddings_table": embedding(visual_words, config.integer("hidden_size"), part="projector"),
    }
    # The head is sized by the outer config, which repeats the text model's sizes.
    return with_output_head(config, {**parts}, text=config)
