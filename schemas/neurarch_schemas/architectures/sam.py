"""Segment Anything (arXiv:2304.02643) and its high-quality variant (arXiv:2306.01567)."""

from __future__ import annotations

from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.architectures.sam_vision import vision_encoder
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import in_part, uniform
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import convolution, embedding, layer_norm, linear, transposed_convolution
from neurarch_schemas.modules.tree import AttentionShape, Module, Stack, Tensor, named
from neurarch_schemas.modules.vision import vit_attention

MODEL_TYPES = ("sam", "sam_hq", "sam_hq_vision_model")

BLOCK_DOWNSAMPLE_RATE = 2
"""Of the blocks' cross attention, fixed in the class: ``attention_downsample_rate`` is that of the final one only."""


def positional_embedding(config: ModelConfig, tied_to: str | None = None) -> Module:
    """Random spatial frequencies of two coordinates."""
    features = config.nested_config("vision_config").integer("num_pos_feats")
    tensor = Tensor("positional_embedding", (2, features), tied_to=tied_to)
    return Module("PositionalEmbedding", (tensor,), part="position")


def prompt_encoder(config: ModelConfig) -> Module:
    own = config.nested_config("prompt_encoder_config")
    hidden, channels = own.integer("hidden_size"), own.integer("mask_input_channels")
    narrow = channels // 4
    shared = "shared_image_embedding.positional_embedding" if config.flag("tie_word_embeddings", True) else None
    parts: dict[str, Module | Stack | None] = {
        "shared_embedding": positional_embedding(config, shared),
        "mask_embed.conv1": convolution(1, narrow, (2, 2)),
        "mask_embed.conv2": convolution(narrow, channels, (2, 2)),
        "mask_embed.conv3": convolution(channels, hidden, (1, 1)),
        "mask_embed.layer_norm1": layer_norm(narrow),
        "mask_embed.layer_norm2": layer_norm(4 * narrow),
        "no_mask_embed": embedding(1, hidden),
        "point_embed": uniform(embedding(1, hidden), own.integer("num_point_embeddings")),
        "not_a_point_embed": embedding(1, hidden),
    }
    return Module("PromptEncoder", children=named(parts))


def attention(config: ModelConfig, downsample: int) -> Module:
    """Queries, keys and values narrower than the stream by ``downsample``."""
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    width = hidden // downsample
    dim = width // heads
    names = ("q_proj", "k_proj", "v_proj", "out_proj")
    built = vit_attention(hidden, heads, head_dim=dim, width=width, names=names, position="learned")
    return built.with_(attention=AttentionShape(heads, heads, dim, dim, "encoder", causal=False))


def two_way_block(config: ModelConfig) -> Module:
    hidden, rate = config.integer("hidden_size"), BLOCK_DOWNSAMPLE_RATE
    parts: dict[str, Module | Stack | None] = {
        "self_attn": attention(config, 1),
        "layer_norm1": layer_norm(hidden),
        "cross_attn_token_to_image": attention(config, rate),
        "layer_norm2": layer_norm(hidden),
        "mlp": mlp(hidden, config.integer("mlp_dim"), names=("lin1", "lin2")),
        "layer_norm3": layer_norm(hidden),
        "layer_norm4": layer_norm(hidden),
        "cross_attn_image_to_token": attention(config, rate),
    }
    return Module("TwoWayBlock", children=named(parts))


def feed_forward(inputs: int, inner: int, outputs: int, depth: int) -> Module:
    """``depth`` linear maps with activations between them."""
    parts: dict[str, Module | Stack | None] = {
        "proj_in": linear(inputs, inner),
        "proj_out": linear(inner, outputs),
        "layers": uniform(linear(inner, inner), max(depth - 2, 0)),
    }
    return Module("FeedForward", children=named(parts), part="head")


def high_quality_parts(config: ModelConfig, hidden: int) -> dict[str, Module | Stack | None]:
    """A further token, and features of the encoder's first and last layers."""
    quarter, eighth = hidden // 4, hidden // 8
    return {
        "hq_token": embedding(1, hidden),
        "hq_mask_mlp": feed_forward(hidden, hidden, eighth, 3),
        "compress_vit_conv1": transposed_convolution(config.integer("vit_dim"), hidden, (2, 2)),
        "compress_vit_norm": layer_norm(hidden),
        "compress_vit_conv2": transposed_convolution(hidden, eighth, (2, 2)),
        "encoder_conv1": transposed_convolution(hidden, quarter, (2, 2)),
        "encoder_norm": layer_norm(quarter),
        "encoder_conv2": transposed_convolution(quarter, eighth, (2, 2)),
        "mask_conv1": convolution(eighth, quarter, (3, 3)),
        "mask_norm": layer_norm(quarter),
        "mask_conv2": convolution(quarter, eighth, (3, 3)),
    }


def mask_decoder(config: ModelConfig, *, high_quality: bool) -> Module:
    hidden, tokens = config.integer("hidden_size"), config.integer("num_multimask_outputs") + 1
    inner, depth = config.integer("iou_head_hidden_dim"), config.integer("iou_head_depth")
    rate = config.integer("attention_downsample_rate")
    parts: dict[str, Module | Stack | None] = {
        "iou_token": embedding(1, hidden),
        "mask_tokens": embedding(tokens, hidden),
        "transformer.layers": uniform(two_way_block(config), config.integer("num_hidden_layers")),
        "transformer.final_attn_token_to_image": attention(config, rate),
        "transformer.layer_norm_final_attn": layer_norm(hidden),
        "upscale_conv1": transposed_convolution(hidden, hidden // 4, (2, 2)),
        "upscale_conv2": transposed_convolution(hidden // 4, hidden // 8, (2, 2)),
        "upscale_layer_norm": layer_norm(hidden // 4),
        "output_hypernetworks_mlps": uniform(feed_forward(hidden, hidden, hidden // 8, 3), tokens),
        "iou_prediction_head": feed_forward(hidden, inner, tokens, depth),
        **(high_quality_parts(config, hidden) if high_quality else {}),
    }
    return Module("MaskDecoder", children=named(parts))


def build(config: ModelConfig) -> Module:
    if head_name(config.architecture) != "Model":
        raise unknown_head(config.architecture)
    if config.model_type == "sam_hq_vision_model":
        return Module("VisionModel", children=named({"vision_encoder": vision_encoder(config)}))
    masks = config.nested_config("mask_decoder_config")
    parts: dict[str, Module | Stack | None] = {
        "shared_image_embedding": positional_embedding(config),
        "vision_encoder": in_part(vision_encoder(config.nested_config("vision_config")), "vision"),
        "prompt_encoder": prompt_encoder(config),
        "mask_decoder": mask_decoder(masks, high_quality=config.model_type == "sam_hq"),
    }
    return Module("Model", children=named(parts))
