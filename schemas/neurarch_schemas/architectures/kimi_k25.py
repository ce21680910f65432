"""Kimi K2.5: MoonViT with frames, a projector that joins patches, DeepSeek-V3 as language model."""

from __future__ import annotations

from neurarch_schemas.architectures.composite import projector, text_model, tower, with_output_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import convolution, layer_norm, linear
from neurarch_schemas.modules.tree import Module, Tensor, children
from neurarch_schemas.modules.vision import height_and_width, vision_attention

MODEL_TYPES = ("kimi_k25", "kimi_k25_vision")


def encoder_layer(config: ModelConfig) -> Module:
    hidden = config.integer("hidden_size")
    return Module(
        "EncoderLayer",
        children=children(
            norm1=layer_norm(hidden),
            norm2=layer_norm(hidden),
            attn=vision_attention(
                hidden,
                config.integer("num_attention_heads"),
                names=("q_proj", "k_proj", "v_proj", "proj"),
                position="rope",
            ),
            mlp=mlp(hidden, config.integer("intermediate_size")),
        ),
    )


def vision_model(config: ModelConfig) -> Module:
    hidden = config.integer("hidden_size")
    grid = (config.integer("pos_emb_height"), config.integer("pos_emb_width"), hidden)
    patches = Module(
        "PatchEmbedding",
        children=children(
            proj=convolution(3, hidden, height_and_width(config, "patch_size")),
            pos_emb=Module("Position", (Tensor("position_embeddings", grid),), part="position"),
        ),
        part="embedding",
    )
    return Module(
        "VisionModel",
        children=children(
            patch_embed=patches,
            layers=uniform(encoder_layer(config), config.integer("num_hidden_layers")),
            final_layernorm=layer_norm(hidden),
        ),
        width_out=hidden,
    )


def build(config: ModelConfig) -> Module:
    if config.model_type == "kimi_k25_vision":
        return vision_model(config)
    vision = config.nested_config("vision_config")
    rows, columns = height_and_width(vision, "merge_kernel_size")
    joined = vision.integer("hidden_size") * rows * columns
    parts = {
        "vision_tower": tower(config),
        "language_model": text_model(config),
        "mm_projector": projector(
            {
                "pre_norm": layer_norm(config.integer("projection_hidden_size")),
                "in_proj": linear(joined, joined),
                "out_proj": linear(joined, config.nested_config("text_config").integer("hidden_size")),
            }
        ),
    }
    return with_output_head(config, {**parts})
