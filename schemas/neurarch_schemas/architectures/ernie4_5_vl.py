"""ERNIE 4.5 VL with experts: a vision transformer and a resampler over space and time before the language model."""

from __future__ import annotations

from neurarch_schemas.architectures.composite import projector, text_model, tower, with_output_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import layer_norm, linear, rms_norm
from neurarch_schemas.modules.tree import Module, children
from neurarch_schemas.modules.vision import fused_vision_attention

MODEL_TYPES = ("ernie4_5_vl_moe", "ernie4_5_vl_moe_vision")


def vision_model(config: ModelConfig) -> Module:
    hidden = config.integer("hidden_size")
    block = Module(
        "VisionBlock",
        children=children(
            norm1=layer_norm(hidden),
            norm2=layer_norm(hidden),
            attn=fused_vision_attention(hidden, config.integer("num_heads")),
            mlp=mlp(hidden, config.integer("intermediate_size")),
        ),
    )
    pixels = config.integer("in_channels") * config.integer("patch_size") ** 2
    return Module(
        "VisionModel",
        children=children(
            patch_embed=Module("PatchEmbedding", children=children(proj=linear(pixels, hidden, bias=False))),
            blocks=uniform(block, config.integer("depth")),
            ln=layer_norm(hidden),
        ),
        width_out=hidden,
    )


def resampler(config: ModelConfig) -> Module:
    vision, hidden = config.nested_config("vision_config"), config.nested_config("text_config").integer("hidden_size")
    space = vision.integer("hidden_size") * vision.integer("spatial_merge_size") ** 2
    time = space * vision.integer("temporal_merge_size")

    def network(inputs: int) -> Module:
        return Module(
            "MLP", children=children(fc1=linear(inputs, space), fc2=linear(space, space), ln=layer_norm(space))
        )

    return projector(
        {
            "spatial_linear": network(space),
            "temporal_linear": network(time),
            "mlp": linear(space, hidden),
            "after_norm": rms_norm(hidden),
        }
    )


def build(config: ModelConfig) -> Module:
    if config.model_type == "ernie4_5_vl_moe_vision":
        return vision_model(config)
    parts = {
        "language_model": text_model(config),
        "vision_tower": tower(config),
        "resampler_model": resampler(config),
    }
    return with_output_head(config, {**parts})
