"""The vision encoders of GLM-4.1V, GLM-4.5V and GLM-OCR: RMSNorm, gated MLPs, a strided convolution before the merger.

In GLM-4V the blocks' MLPs are ``out_hidden_size`` wide and the merger is ``intermediate_size`` wide.
"""

from __future__ import annotations

from neurarch_schemas.architectures.qwen_vision import frame_patches
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.feed_forward import gated_mlp
from neurarch_schemas.modules.layers import convolution, layer_norm, linear, position_embedding, rms_norm
from neurarch_schemas.modules.tree import Module, Stack, children
from neurarch_schemas.modules.vision import fused_vision_attention, patch_count

MODEL_TYPES = ("glm4v_vision", "glm4v_moe_vision", "glm_ocr_vision", "glm5_next_vision")

_NORMED = ("glm_ocr_vision", "glm5_next_vision")


def block(config: ModelConfig) -> Module:
    hidden, heads, bias = config.integer("hidden_size"), config.integer("num_heads"), config.flag("attention_bias")
    ocr = config.model_type in _NORMED
    norms: dict[str, Module | Stack | None] = {}
    if ocr:
        norms = {"q_norm": rms_norm(hidden // heads), "k_norm": rms_norm(hidden // heads)}
    inner = config.integer("intermediate_size" if ocr else "out_hidden_size")
    return Module(
        "VisionBlock",
        children=children(
            norm1=rms_norm(hidden),
            norm2=rms_norm(hidden),
            attn=fused_vision_attention(hidden, heads, bias=bias, out_bias=bias and ocr, extra=norms),
            mlp=gated_mlp(hidden, inner, bias and ocr),
        ),
    )


def patch_merger(width: int, inner: int) -> Module:
    return Module(
        "PatchMerger",
        children=children(
            proj=linear(width, width, bias=False),
            post_projection_norm=layer_norm(width),
            gate_proj=linear(width, inner, bias=False),
            up_proj=linear(width, inner, bias=False),
            down_proj=linear(inner, width, bias=False),
        ),
        part="projector",
    )


def build(config: ModelConfig) -> Module:
    hidden, outputs = config.integer("hidden_size"), config.integer("out_hidden_size")
    ocr, merge = config.model_type in _NORMED, config.integer("spatial_merge_size")
    positions = Module(
        "Embeddings", children=children(position_embedding=position_embedding(patch_count(config), hidden))
    )
    if config.model_type == "glm5_next_vision":
        inner = config.integer("projection_intermediate_size")
    else:
        inner = outputs * config.integer("in_channels") if ocr else config.integer("intermediate_size")
    return Module(
        "VisionModel",
        children=children(
            embeddings=None if ocr else positions,
            patch_embed=frame_patches(config, hidden, bias=True),
            blocks=uniform(block(config), config.integer("depth")),
            merger=patch_merger(outputs, inner),
            post_conv_layernorm=None if ocr else rms_norm(hidden),
            downsample=convolution(hidden, outputs, (merge, merge)),
            post_layernorm=rms_norm(hidden),
        ),
        width_out=outputs,
    )
