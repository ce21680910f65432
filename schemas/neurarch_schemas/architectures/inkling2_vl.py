"""Inkling 2 with images, plain and looped: a vision transformer with layer scale, a merger, the text model.

The output head has ``unpadded_vocab_size`` rows and is never tied.
"""

from __future__ import annotations

from neurarch_schemas.architectures.composite import text_model, tower, with_output_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import layer_norm, linear, position_embedding
from neurarch_schemas.modules.tree import Module, Tensor, children
from neurarch_schemas.modules.vision import vision_attention

MODEL_TYPES = ("inkling2", "inkling2_loop", "inkling2_vision")


def vision_model(config: ModelConfig) -> Module:
    hidden, outputs = config.integer("hidden_size"), config.integer("text_hidden_size")
    inner = config.integer("intermediate_size", int(hidden * config.number("mlp_ratio")))
    layer = Module(
        "EncoderLayer",
        (Tensor("lambda_1", (hidden,)), Tensor("lambda_2", (hidden,))),
        children(
            self_attn=vision_attention(hidden, config.integer("num_attention_heads"), position="rope"),
            mlp=mlp(hidden, inner),
            layernorm_before=layer_norm(hidden),
            layernorm_after=layer_norm(hidden),
        ),
    )
    pixels = config.integer("num_channels") * config.integer("patch_size") ** 2
    embeddings = Module(
        "Embeddings",
        (Tensor("class_embedding", (hidden,)), Tensor("cls_position_embedding", (hidden,))),
        children(
            patch_embedding=linear(pixels, hidden, bias=False),
            position_embedding=position_embedding(config.integer("posemb_grid_size") ** 2, hidden),
        ),
        part="embedding",
    )
    joined, bias = hidden * config.integer("spatial_merge_size") ** 2, config.flag("projector_bias")
    width = config.integer("projection_hidden_dim")
    merger = Module(
        "Merger",
        children=children(linear_1=linear(joined, width, bias), linear_2=linear(width, outputs, bias)),
        part="projector",
    )
    return Module(
        "VisionModel",
        children=children(
            embeddings=embeddings,
            pre_layernorm=layer_norm(hidden),
            layers=uniform(layer, config.integer("num_hidden_layers")),
            merger=merger,
        ),
        width_out=outputs,
    )


def build(config: ModelConfig) -> Module:
    if config.model_type == "inkling2_vision":
        return vision_model(config)
    words = config.nested_config("text_config").integer("unpadded_vocab_size")
    parts = {"language_model": text_model(config), "vision_tower": tower(config)}
    return with_output_head(config, {**parts}, tied=False, vocabulary=words)
