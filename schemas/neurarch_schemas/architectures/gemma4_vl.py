"""Gemma 4 with images and audio: a vision encoder of the text model's kind, a Conformer for audio, linear projections.

Gemma 4 unified has no towers: patches and audio frames are projected as they are.
"""

from __future__ import annotations

from neurarch_schemas.architectures.composite import projector, text_model, tower, with_output_head
from neurarch_schemas.architectures.decoder import SANDWICH_NORM
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.attention import attention_block
from neurarch_schemas.modules.layers import convolution, layer_norm, linear, rms_norm
from neurarch_schemas.modules.tree import AttentionShape, Module, Stack, Tensor, children

MODEL_TYPES = ("gemma4", "gemma4_vision", "gemma4_audio", "gemma4_unified")

_LIMITS = ("input_min", "input_max", "output_min", "output_max")


def clipped_linear(config: ModelConfig, inputs: int, outputs: int) -> Module:
    """A linear map under ``linear``; with ``use_clipped_linears`` also four limits, scalars that are buffers."""
    limits = tuple(Tensor(name, (), "buffer") for name in _LIMITS) if config.flag("use_clipped_linears") else ()
    return Module("ClippedLinear", limits, children(linear=linear(inputs, outputs, bias=False)))


def vision_layer(config: ModelConfig) -> Module:
    hidden, heads, kv_heads = (
        config.integer("hidden_size"),
        config.integer("num_attention_heads"),
        config.integer("num_key_value_heads"),
    )
    dim, inner = config.integer("head_dim"), config.integer("intermediate_size")
    block = attention_block(
        {
            "q_proj": clipped_linear(config, hidden, heads * dim),
            "k_proj": clipped_linear(config, hidden, kv_heads * dim),
            "v_proj": clipped_linear(config, hidden, kv_heads * dim),
            "o_proj": clipped_linear(config, heads * dim, hidden),
            "q_norm": rms_norm(dim),
            "k_norm": rms_norm(dim),
        },
        AttentionShape(heads, kv_heads, dim, dim, "encoder", causal=False, qk_norm=True, position="rope"),
        hidden=hidden,
        caches=(),
    )
    transform = Module(
        "GatedMLP",
        children=children(
            gate_proj=clipped_linear(config, hidden, inner),
            up_proj=clipped_linear(config, hidden, inner),
            down_proj=clipped_linear(config, inner, hidden),
        ),
        part="feed-forward",
    )
    norms = dict.fromkeys(SANDWICH_NORM, rms_norm(hidden))
    return Module("EncoderLayer", children=children(self_attn=block, mlp=transform, **norms))


def vision_model(config: ModelConfig) -> Module:
    hidden, pixels = config.integer("hidden_size"), 3 * config.integer("patch_size") ** 2
    patches = Module(
        "PatchEmbedding",
        (Tensor("position_embedding_table", (2, config.integer("position_embedding_size"), hidden)),),
        children(input_proj=linear(pixels, hidden, bias=False)),
        part="embedding",
    )
    blocks = uniform(vision_layer(config), config.integer("num_hidden_layers"))
    scaling = (Tensor("std_bias", (hidden,), "buffer"), Tensor("std_scale", (hidden,), "buffer"))
    return Module(
        "VisionModel",
        scaling if config.flag("standardize") else (),
        children(patch_embedder=patches, encoder=Module("Encoder", children=children(layers=blocks))),
        width_out=hidden,
    )


def audio_feed_forward(config: ModelConfig, hidden: int) -> Module:
    return Module(
        "FeedForward",
        children=children(
            ffw_layer_1=clipped_linear(config, hidden, 4 * hidden),
            ffw_layer_2=clipped_linear(config, 4 * hidden, hidden),
            pre_layer_norm=rms_norm(hidden),
            post_layer_norm=rms_norm(hidden),
        ),
        part="feed-forward",
    )


def audio_layer(config: ModelConfig) -> Module:
    """A Conformer layer (arXiv:2005.08100): half a feed-forward, attention, convolution, half a feed-forward."""
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    dim = hidden // heads
    block = attention_block(
        {
            "q_proj": clipped_linear(config, hidden, heads * dim),
            "k_proj": clipped_linear(config, hidden, heads * dim),
            "v_proj": clipped_linear(config, hidden, heads * dim),
            "post": clipped_linear(config, hidden, hidden),
            "relative_k_proj": linear(hidden, heads * dim, bias=False),
        },
        AttentionShape(heads, heads, dim, dim, "encoder", causal=False, position="relative"),
        hidden=hidden,
        caches=(),
    ).with_(tensors=(Tensor("per_dim_scale", (dim,)),))
    light_convolution = Module(
        "LightConvolution",
        children=children(
            linear_start=clipped_linear(config, hidden, 2 * hidden),
            linear_end=clipped_linear(config, hidden, hidden),
            depthwise_conv1d=convolution(
                hidden, hidden, (config.integer("conv_kernel_size"),), bias=False, groups=hidden
            ),
            pre_layer_norm=rms_norm(hidden),
            conv_norm=rms_norm(hidden),
        ),
        part="convolution",
    )
    return Module(
        "ConformerLayer",
        children=children(
            feed_forward1=audio_feed_forward(config, hidden),
            feed_forward2=audio_feed_forward(config, hidden),
            self_attn=block,
            lconv1d=light_convolution,
            norm_pre_attn=rms_norm(hidden),
            norm_post_attn=rms_norm(hidden),
            norm_out=rms_norm(hidden),
        ),
    )


def audio_model(config: ModelConfig) -> Module:
    hidden, channels = config.integer("hidden_size"), config.integers("subsampling_conv_channels")

    def subsampling(inputs: int, outputs: int) -> Module:
        return Module(
            "Subsampling",
            children=children(
                conv=convolution(inputs, outputs, (3, 3), bias=False), norm=layer_norm(outputs, bias=False)
            ),
        )

    entrance = Module(
        "SubsamplingProjection",
        children=children(
            layer0=subsampling(1, channels[0]),
            layer1=subsampling(channels[0], channels[1]),
            input_proj_linear=linear(channels[0] // 4 * channels[1], hidden, bias=False),
        ),
        part="embedding",
    )
    return Module(
        "AudioModel",
        children=children(
            subsample_conv_projection=entrance,
            layers=uniform(audio_layer(config), config.integer("num_hidden_layers")),
            output_proj=linear(hidden, config.integer("output_proj_dims")),
        ),
    )


def embedder(features: int, hidden: int) -> Module:
    """A norm without weights and a linear map."""
    return projector({"embedding_projection": linear(features, hidden, bias=False)})


def patch_embedder(config: ModelConfig, hidden: int) -> Module:
    """Gemma 4 unified: merged patches of raw pixels, normed before and after a linear map, with learned positions."""
    pixels = 3 * (config.integer("patch_size") * config.integer("pooling_kernel_size")) ** 2
    width = config.integer("mm_embed_dim")
    return projector(
        {
            "patch_ln1": layer_norm(pixels),
            "patch_dense": linear(pixels, width),
            "patch_ln2": layer_norm(width),
            "pos_norm": layer_norm(width),
            "multimodal_embedder": embedder(config.integer("output_proj_dims"), hidden),
        },
        tensors=(Tensor("pos_embedding", (config.integer("mm_posemb_size"), 2, width)),),
    )


def build(config: ModelConfig) -> Module:
    if config.model_type == "gemma4_vision":
        return vision_model(config)
    if config.model_type == "gemma4_audio":
        return audio_model(config)
    hidden = config.nested_config("text_config").integer("hidden_size")
    vision, audio = config.nested.get("vision_config"), config.nested.get("audio_config")
    parts: dict[str, Module | Stack | None]
    if config.model_type == "gemma4_unified":
        parts = {
            "language_model": text_model(config),
            "embed_vision": patch_embedder(vision, hidden) if vision else None,
            "embed_audio": embedder(audio.integer("audio_embed_dim"), hidden) if audio else None,
        }
        return with_output_head(config, parts)
    parts = {
        "vision_tower": tower(config) if vision else None,
        "language_model": text_model(config),
        "audio_tower": tower(config, "audio_config", "audio") if audio else None,
        "embed_vision": embedder(vision.integer("hidden_size"), hidden) if vision else None,
        "embed_audio": embedder(audio.integer("output_proj_dims"), hidden) if audio else None,
    }
    return with_output_head(config, parts)
