"""Hunyuan V4 with images: a vision transformer with learned positions, a convolutional merger, the V4 text model."""

from __future__ import annotations

from neurarch_schemas.architectures.composite import text_model, tower, with_output_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.encoder import encoder_attention
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import convolution, layer_norm, position_embedding, rms_norm
from neurarch_schemas.modules.tree import Module, Tensor, children

MODEL_TYPES = ("hy_v4_vl", "hy_v4_vl_vision")


def vision_model(config: ModelConfig) -> Module:
    hidden, outputs = config.integer("hidden_size"), config.integer("out_hidden_size")
    patch, merge = config.integer("patch_size"), config.integer("spatial_merge_size")
    positions = (config.integer("max_image_size") // patch) ** 2 + 1
    layer = Module(
        "VisionBlock",
        children=children(
            layer_norm1=layer_norm(hidden),
            self_attn=encoder_attention(
                hidden,
                config.integer("num_attention_heads"),
                head_dim=config.optional_integer("head_dim"),
                names=("q_proj", "k_proj", "v_proj", "o_proj"),
            ),
            layer_norm2=layer_norm(hidden),
            mlp=mlp(hidden, config.integer("intermediate_size")),
        ),
    )
    embeddings = Module(
        "Embeddings",
        children=children(
            patch_embedding=convolution(config.integer("num_channels"), hidden, (patch, patch)),
            position_embedding=position_embedding(positions, hidden),
        ),
        part="embedding",
    )
    joined = hidden * merge * merge
    merger = Module(
        "PatchMerger",
        (Tensor("image_newline", (outputs,)),),
        children(
            proj_conv=convolution(hidden, joined, (merge, merge)),
            proj_out=convolution(joined, outputs, (1, 1)),
            before_rms=rms_norm(hidden),
        ),
        part="projector",
    )
    return Module(
        "VisionModel",
        children=children(
            embeddings=embeddings,
            layers=uniform(layer, config.integer("num_hidden_layers")),
            patch_merger=merger,
        ),
        width_out=outputs,
    )


def build(config: ModelConfig) -> Module:
    if config.model_type == "hy_v4_vl_vision":
        return vision_model(config)
    parts = {"vision_tower": tower(config), "language_model": text_model(config)}
    return with_output_head(config, {**parts})
