"""HunYuan-VL: a vision encoder with large pictures' positions, and a convolutional merger inside it."""

from __future__ import annotations

from neurarch_schemas.architectures.composite import text_model, tower, with_output_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.attention import attention
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import convolution, layer_norm, linear, position_embedding, rms_norm
from neurarch_schemas.modules.tree import Module, Tensor, children

MODEL_TYPES = ("hunyuan_vl", "hunyuan_vl_vision")


def merger(config: ModelConfig, hidden: int) -> Module:
    """Joins ``spatial_merge_size`` squared patches; learned vectors mark line ends and the picture's borders."""
    outputs, merged = config.integer("text_hidden_size"), config.integer("spatial_merge_size")
    marks = tuple(Tensor(name, (outputs,)) for name in ("image_begin", "image_end", "image_sep"))
    return Module(
        "PatchMerger",
        (Tensor("image_newline", (4 * hidden,)), *marks),
        children(
            proj_conv=convolution(hidden, 2 * hidden, (merged, merged)),
            proj_out=convolution(2 * hidden, 4 * hidden, (1, 1)),
            mlp=linear(4 * hidden, outputs),
            before_rms=rms_norm(hidden),
            after_rms=rms_norm(outputs),
        ),
        part="projector",
    )


def vision_model(config: ModelConfig) -> Module:
    hidden, patch = config.integer("hidden_size"), config.integer("patch_size")
    mixer = attention(
        hidden,
        config.integer("num_attention_heads"),
        head_dim=config.optional_integer("head_dim"),
        bias=True,
        kind="encoder",
        position="learned",
        cached=False,
    )
    layer = Module(
        "VisionBlock",
        children=children(
            layer_norm1=layer_norm(hidden),
            self_attn=mixer,
            layer_norm2=layer_norm(hidden),
            mlp=mlp(hidden, config.integer("intermediate_size")),
        ),
    )
    side = config.integer("max_image_size") // patch
    patches = Module(
        "PatchEmbedding",
        children=children(
            patch_embedding=convolution(config.integer("num_channels"), hidden, (patch, patch)),
            position_embedding=position_embedding(side * side + 1, hidden),
        ),
        part="embedding",
    )
    return Module(
        "VisionModel",
        children=children(
            embeddings=patches,
            layers=uniform(layer, config.integer("num_hidden_layers")),
            patch_merger=merger(config, hidden),
        ),
        width_out=config.integer("text_hidden_size"),
    )


def build(config: ModelConfig) -> Module:
    if config.model_type == "hunyuan_vl_vision":
        return vision_model(config)
    width = config.nested_config("text_config").integer("hidden_size")
    parts = {"language_model": text_model(config), "vision_tower": tower(config, text_hidden_size=width)}
    return with_output_head(config, {**parts})
