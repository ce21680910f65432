"""Florence-2: the DaViT encoder (windows of pixels and groups of channels attend in turn) in front of BART."""

from __future__ import annotations

from neurarch_schemas.architectures.composite import projector, text_model, tower, with_output_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import list_of_lists
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import convolution, layer_norm, linear, position_embedding
from neurarch_schemas.modules.tree import Module, Tensor, children, stack
from neurarch_schemas.modules.vision import fused_vision_attention

MODEL_TYPES = ("florence2", "florence_vision")


def block_half(config: ModelConfig, stage: int, attention_name: str, heads: int) -> Module:
    """Depthwise convolution, attention, depthwise convolution, MLP."""
    width = config.integers("embed_dim")[stage]
    depthwise = convolution(width, width, (3, 3), groups=width)
    attends = fused_vision_attention(width, heads, bias=config.flag("qkv_bias"), out_bias=True, position="none")
    inner = int(width * config.number("mlp_ratio"))
    return Module(
        "HalfBlock",
        children=children(
            conv1=depthwise,
            norm1=layer_norm(width),
            **{attention_name: attends},
            conv2=depthwise,
            norm2=layer_norm(width),
            ffn=Module("FFN", children=mlp(width, inner).children, part="feed-forward"),
        ),
    )


def block(config: ModelConfig, stage: int) -> Module:
    return Module(
        "Block",
        children=children(
            spatial_block=block_half(config, stage, "window_attn", config.integers("num_heads")[stage]),
            channel_block=block_half(config, stage, "channel_attn", config.integers("num_groups")[stage]),
        ),
    )


def patch_embedding(config: ModelConfig, stage: int) -> Module:
    widths, kernel = config.integers("embed_dim"), config.integers("patch_size")[stage]
    inputs = widths[stage - 1] if stage else config.integer("in_channels")
    norm_first = bool(config.items("patch_prenorm")[stage])
    return Module(
        "ConvolutionEmbedding",
        children=children(
            conv=convolution(inputs, widths[stage], (kernel, kernel)),
            norm=layer_norm(inputs if norm_first else widths[stage]),
        ),
        part="embedding",
    )


def vision_model(config: ModelConfig) -> Module:
    stages, depths = range(len(config.integers("embed_dim"))), config.counts("depths")
    return Module(
        "VisionModel",
        children=children(
            convs=stack(*(patch_embedding(config, stage) for stage in stages)),
            blocks=list_of_lists(*((block(config, stage), depths[stage]) for stage in stages)),
        ),
    )


def multimodal_projector(config: ModelConfig) -> Module:
    """Learned rows and columns, a table of frame positions that is a buffer, a projection and a norm."""
    width, outputs = config.integers("embed_dim")[-1], config.integer("projection_dim")
    places, frames = config.integer("max_position_embeddings"), config.integer("max_temporal_embeddings")
    grid = Module(
        "Position2D",
        children=children(
            row_embeddings=position_embedding(places, width // 2),
            column_embeddings=position_embedding(places, width - width // 2),
        ),
    )
    return projector(
        {
            "image_projection": linear(width, outputs, bias=False),
            "image_proj_norm": layer_norm(outputs),
            "image_position_embed": grid,
            "visual_temporal_embed": Module("Frames", (Tensor("pos_idx_to_embed", (frames, width), "buffer"),)),
        }
    )


def build(config: ModelConfig) -> Module:
    if config.model_type == "florence_vision":
        return vision_model(config)
    parts = {
        "vision_tower": tower(config),
        "multi_modal_projector": multimodal_projector(config.nested_config("vision_config")),
        "language_model": text_model(config),
    }
    return with_output_head(config, {**parts}, embedding="language_model.shared.weight")
