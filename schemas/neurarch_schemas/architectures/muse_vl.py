"""Muse Glimmer and Muse Spark: a vision transformer over two frames, an adapter; Spark also encodes audio waveforms.

Muse Spark's output head is never tied: its class declares no tied weights.
"""

from __future__ import annotations

from neurarch_schemas.architectures.composite import (
    projector,
    text_model,
    tower,
    two_layer_projector,
    with_output_head,
)
from neurarch_schemas.architectures.kimi_k25 import encoder_layer
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import convolution, layer_norm, linear, position_embedding, rms_norm
from neurarch_schemas.modules.tree import Module, Stack, children, stack

MODEL_TYPES = ("muse_glimmer", "muse_glimmer_vision", "muse_spark", "muse_spark_vision", "muse_spark_audio")


def vision_model(config: ModelConfig) -> Module:
    hidden = config.integer("hidden_size")
    pixels = config.integer("patch_temporal") * 3 * config.integer("patch_size") ** 2
    places = config.integer("pos_emb_height") * config.integer("pos_emb_width")
    patches = Module(
        "PatchEmbedding",
        children=children(
            patch_embedding=linear(pixels, hidden, bias=False),
            position_embedding_table=position_embedding(places, hidden),
        ),
        part="embedding",
    )
    return Module(
        "VisionModel",
        children=children(
            patch_embedder=patches,
            ln_pre=layer_norm(hidden),
            layers=uniform(encoder_layer(config), config.integer("num_hidden_layers")),
            ln_post=layer_norm(hidden),
        ),
        width_out=hidden,
    )


def audio_layer(config: ModelConfig, index: int) -> Module:
    """Joins ``patch_sizes[index]`` samples, then depthwise convolutions with MLPs."""
    widths, patch = config.integers("hidden_sizes"), config.integers("patch_sizes")[index]
    width, inputs = widths[index], widths[index - 1] if index else 1
    block = Module(
        "ConvolutionBlock",
        children=children(
            conv=convolution(width, width, (config.integer("conv_kernel_size"),), groups=width),
            norm=rms_norm(width),
            mlp=mlp(width, int(width * config.number("mlp_ratio"))),
        ),
    )
    return Module(
        "AudioLayer",
        children=children(
            patch_embedder=Module(
                "PatchEmbedding", children=children(proj=linear(inputs * patch, width), norm=rms_norm(width))
            ),
            conv_blocks=uniform(block, config.counts("depths")[index]),
        ),
    )


def audio_model(config: ModelConfig) -> Module:
    width, outputs = config.integers("hidden_sizes")[-1], config.integer("out_hidden_size")
    count = min(config.integer("num_hidden_layers"), len(config.integers("hidden_sizes")))
    return Module(
        "AudioModel",
        children=children(
            layers=stack(*(audio_layer(config, index) for index in range(count))),
            norm=rms_norm(width),
            proj=linear(width, outputs),
            post_proj_norm=rms_norm(outputs),
        ),
    )


def build(config: ModelConfig) -> Module:
    if config.model_type.endswith("_vision"):
        return vision_model(config)
    if config.model_type == "muse_spark_audio":
        return audio_model(config)
    inner, hidden = config.integer("projector_hidden_size"), config.nested_config("text_config").integer("hidden_size")
    adapter = two_layer_projector(config.integer("out_hidden_size"), inner, bias=False, names=("fc1", "fc2"))
    spark = config.model_type == "muse_spark"
    parts: dict[str, Module | Stack | None] = {
        "vision_tower": tower(config),
        "language_model": text_model(config),
        "vision_adapter": projector(adapter),
        "vision_projection": linear(inner, hidden, bias=False, part="projector"),
        "audio_tower": tower(config, "audio_config", "audio") if spark else None,
    }
    return with_output_head(config, parts, tied=False if spark else None)
