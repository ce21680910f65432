"""The vision encoders of Qwen2-VL to Qwen3.5, EXAONE 4.5 and Cohere Compass: patches of two frames, a final merger."""

from __future__ import annotations

from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.attention import attention_block
from neurarch_schemas.modules.feed_forward import gated_mlp, mlp
from neurarch_schemas.modules.layers import convolution, layer_norm, linear, position_embedding, rms_norm
from neurarch_schemas.modules.tree import AttentionShape, Module, children
from neurarch_schemas.modules.vision import fused_vision_attention, sequential, vision_attention

MODEL_TYPES = (
    "qwen2_vl_vision",
    "qwen2_5_vl_vision",
    "qwen2_5_omni_vision_encoder",
    "exaone4_5_vision",
    "qwen3_vl_vision",
    "qwen3_vl_moe_vision",
    "qwen3_omni_moe_vision_encoder",
    "qwen3_5_vision",
    "qwen3_5_moe_vision",
    "qwen4_exp_vision",
    "cohere_compass_vision",
)

_GATED = ("qwen2_5_vl_vision", "qwen2_5_omni_vision_encoder", "exaone4_5_vision")
_QWEN2 = ("qwen2_vl_vision", *_GATED)
_DEEPSTACK = ("qwen3_vl_vision", "qwen3_vl_moe_vision", "qwen3_omni_moe_vision_encoder", "cohere_compass_vision")


def frame_patches(config: ModelConfig, hidden: int, *, bias: bool, channels: str = "in_channels") -> Module:
    """A convolution over ``temporal_patch_size`` frames of ``patch_size`` squared pixels."""
    patch = config.integer("patch_size")
    kernel = (config.integer("temporal_patch_size"), patch, patch)
    return Module(
        "PatchEmbedding",
        children=children(proj=convolution(config.integer(channels), hidden, kernel, bias=bias)),
        part="embedding",
    )


def self_attention(config: ModelConfig, hidden: int) -> Module:
    """One fused projection, but four in Qwen2.5-Omni; EXAONE shares keys and values among heads."""
    heads = config.integer("num_heads")
    if config.model_type == "qwen2_5_omni_vision_encoder":
        return vision_attention(hidden, heads, names=("q", "k", "v", "proj"), position="rope")
    if config.model_type == "exaone4_5_vision":
        kv_heads, dim = config.integer("num_key_value_heads"), hidden // heads
        return attention_block(
            {"qkv": linear(hidden, (heads + 2 * kv_heads) * dim), "proj": linear(hidden, hidden)},
            AttentionShape(heads, kv_heads, dim, dim, "encoder", causal=False, position="rope"),
            hidden=hidden,
            caches=(),
        )
    return fused_vision_attention(hidden, heads)


def block(config: ModelConfig, hidden: int) -> Module:
    if config.model_type == "qwen2_vl_vision":
        norm, transform = layer_norm(hidden), mlp(hidden, int(hidden * config.number("mlp_ratio")))
    elif config.model_type in _GATED:
        norm, transform = rms_norm(hidden), gated_mlp(hidden, config.integer("intermediate_size"), bias=True)
    else:
        names = ("linear_fc1", "linear_fc2")
        norm, transform = layer_norm(hidden), mlp(hidden, config.integer("intermediate_size"), names=names)
    return Module(
        "VisionBlock",
        children=children(norm1=norm, norm2=norm, attn=self_attention(config, hidden), mlp=transform),
    )


def patch_merger(config: ModelConfig, hidden: int, outputs: int, *, norm_first: bool = True) -> Module:
    """Joins ``spatial_merge_size`` squared patches; the norm comes before (``norm_first``) or after joining."""
    merged = hidden * config.integer("spatial_merge_size") ** 2
    if config.model_type in _QWEN2:
        norm = layer_norm(hidden) if config.model_type == "qwen2_vl_vision" else rms_norm(hidden)
        network = sequential(linear(merged, merged), None, linear(merged, outputs))
        return Module("PatchMerger", children=children(ln_q=norm, mlp=network), part="projector")
    norm = layer_norm(hidden if norm_first else merged)
    if config.model_type == "qwen3_omni_moe_vision_encoder":
        network = sequential(linear(merged, merged), None, linear(merged, outputs))
        return Module("PatchMerger", children=children(ln_q=norm, mlp=network), part="projector")
    return Module(
        "PatchMerger",
        children=children(
            norm=norm,
            linear_fc1=linear(merged, merged),
            linear_fc2=linear(merged, outputs),
        ),
        part="projector",
    )


def build(config: ModelConfig) -> Module:
    old = config.model_type == "qwen2_vl_vision"
    # Qwen2-VL calls the encoder's width embed_dim, and hidden_size what comes out of the merger.
    hidden = config.integer("embed_dim" if old else "hidden_size")
    outputs = config.integer("hidden_size" if old else "out_hidden_size")
    qwen2 = config.model_type in _QWEN2
    positions = None if qwen2 else position_embedding(config.integer("num_position_embeddings"), hidden)
    omni = config.model_type == "qwen3_omni_moe_vision_encoder"
    deepstack = None
    if config.model_type in _DEEPSTACK:
        merger = patch_merger(config, hidden, outputs, norm_first=False)
        deepstack = uniform(merger, len(config.items("deepstack_visual_indexes")))
    return Module(
        "VisionModel",
        children=children(
            patch_embed=frame_patches(config, hidden, bias=not qwen2),
            pos_embed=positions,
            blocks=uniform(block(config, hidden), config.integer("depth")),
            merger=patch_merger(config, hidden, outputs),
            **{"merger_list" if omni else "deepstack_merger_list": deepstack},
        ),
        width_out=outputs,
    )
