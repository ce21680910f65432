"""VideoLLaMA 3 and HyperCLOVA X vision: an encoder with rotary positions, a small projector, a language model."""

from __future__ import annotations

from neurarch_schemas.architectures.composite import either_tied, projector, text_model, tower, with_output_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.layers import convolution, layer_norm, linear
from neurarch_schemas.modules.tree import Module, children
from neurarch_schemas.modules.vision import clip_layer, height_and_width, sequential

MODEL_TYPES = ("video_llama_3", "video_llama_3_vision", "hyperclovax_vision_v2")


def vision_model(config: ModelConfig) -> Module:
    """SigLIP without learned positions."""
    hidden = config.integer("hidden_size")
    layer = clip_layer(hidden, config.integer("num_attention_heads"), config.integer("intermediate_size"))
    patches = convolution(config.integer("num_channels"), hidden, height_and_width(config, "patch_size"))
    return Module(
        "VisionModel",
        children=children(
            embeddings=Module("Embeddings", children=children(patch_embedding=patches), part="embedding"),
            encoder=Module("Encoder", children=children(layers=uniform(layer, config.integer("num_hidden_layers")))),
            post_layernorm=layer_norm(hidden),
        ),
        width_out=hidden,
    )


def build(config: ModelConfig) -> Module:
    if config.model_type == "video_llama_3_vision":
        return vision_model(config)
    vision, hidden = config.nested_config("vision_config"), config.nested_config("text_config").integer("hidden_size")
    if config.model_type == "hyperclovax_vision_v2":
        mapping = linear(vision.integer("out_hidden_size"), hidden, part="projector")
    else:
        features = vision.integer("hidden_size")
        mapping = projector({"readout": sequential(linear(features, hidden), None, linear(hidden, hidden))})
    parts = {"vision_model": tower(config), "projector": mapping, "language_model": text_model(config)}
    tied = either_tied(config) if config.model_type == "video_llama_3" else None
    return with_output_head(config, {**parts}, tied=tied)
