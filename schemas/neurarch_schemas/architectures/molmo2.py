"""Molmo 2: a vision transformer, attention that pools patches from several of its layers, a gated projector.

The output head is never tied: the class declares no tied weights.
"""

from __future__ import annotations

from neurarch_schemas.architectures.composite import projector, text_model, tower, with_output_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.attention import attention
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import layer_norm, linear
from neurarch_schemas.modules.tree import Module, Tensor, children
from neurarch_schemas.modules.vision import height_and_width

MODEL_TYPES = ("molmo2", "molmo2_vision", "molmo2_adapter")


def vision_attention(config: ModelConfig, inputs: int) -> Module:
    return attention(
        inputs,
        config.integer("num_attention_heads"),
        config.integer("num_key_value_heads"),
        config.integer("head_dim"),
        bias=config.flag("attention_bias"),
        kind="encoder",
        cached=False,
        position="learned",
        out_width=config.integer("hidden_size"),
    )


def vision_model(config: ModelConfig) -> Module:
    hidden, patch = config.integer("hidden_size"), config.integer("patch_size")
    if config.is_set("num_position_embeddings"):
        positions = config.integer("num_position_embeddings")
    else:
        height, width = height_and_width(config, "image_size")
        positions = (height // patch) * (width // patch)
    layer = Module(
        "EncoderLayer",
        children=children(
            layer_norm1=layer_norm(hidden),
            self_attn=vision_attention(config, hidden),
            layer_norm2=layer_norm(hidden),
            mlp=mlp(hidden, config.integer("intermediate_size")),
        ),
    )
    pixels = patch * patch * config.integer("num_channels")
    return Module(
        "VisionModel",
        (Tensor("positional_embedding", (positions, hidden)),),
        children(
            patch_embedding=linear(pixels, hidden, part="embedding"),
            layers=uniform(layer, config.integer("num_hidden_layers")),
        ),
        width_out=hidden,
    )


def adapter(config: ModelConfig) -> Module:
    hidden, inner, bias = (
        config.integer("hidden_size"),
        config.integer("intermediate_size"),
        config.flag("mlp_bias"),
    )
    pooled = hidden * len(config.items("vision_feature_layer"))
    mapping = Module(
        "GatedMLP",
        children=children(
            gate_proj=linear(hidden, inner, bias),
            up_proj=linear(hidden, inner, bias),
            down_proj=linear(inner, config.integer("text_hidden_size"), bias=False),
        ),
    )
    return projector({"image_pooling_2d": vision_attention(config, pooled), "image_projector": mapping})


def build(config: ModelConfig) -> Module:
    if config.model_type == "molmo2_vision":
        return vision_model(config)
    if config.model_type == "molmo2_adapter":
        return adapter(config)
    parts = {
        "vision_tower": tower(config),
        "multi_modal_projector": adapter(config.nested_config("adapter_config")),
        "language_model": text_model(config),
    }
    return with_output_head(config, {**parts}, tied=False)
