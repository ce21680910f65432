"""Apertus 1.5: a language model over shared codes, an image tokenizer without a decoder, an audio tokenizer."""

from __future__ import annotations

from neurarch_schemas.architectures.composite import text_model, tower, with_output_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.image_codec import middle, pixel_attention, resampling, residual_block
from neurarch_schemas.modules.layers import convolution, group_norm, linear
from neurarch_schemas.modules.tree import Module, Stack, children, stack

MODEL_TYPES = ("apertus1p5", "apertus1p5_vision_tokenizer")


def stage(config: ModelConfig, index: int, inputs: int, outputs: int, *, last: bool) -> Module:
    """Blocks at one resolution; those listed in ``attn_resolutions`` attend as well."""
    looks = pixel_attention(outputs) if config.integer("resolution") // 2**index in _resolutions(config) else None
    blocks = [
        Module(
            "EncoderBlock",
            children=children(resnet=residual_block(outputs if number else inputs, outputs), attention=looks),
        )
        for number in range(config.integer("num_res_blocks"))
    ]
    return Module(
        "Stage",
        children=children(layers=stack(*blocks) if blocks else None, downsample=None if last else resampling(outputs)),
    )


def _resolutions(config: ModelConfig) -> tuple[int, ...]:
    return config.integers("attn_resolutions") if config.items("attn_resolutions") else ()


def image_tokenizer(config: ModelConfig) -> Module:
    base, latent, width = (
        config.integer("base_channels"),
        config.integer("latent_channels"),
        config.integer("embed_dim"),
    )
    inputs, stages = base, []
    multipliers = config.integers("channel_multiplier")
    for index, multiplier in enumerate(multipliers):
        outputs = base * multiplier
        stages.append(stage(config, index, inputs, outputs, last=index == len(multipliers) - 1))
        inputs = outputs
    encoder = Module(
        "ImageEncoder",
        children=children(
            conv_in=convolution(config.integer("in_channels"), base, (3, 3)),
            stages=stack(*stages),
            mid=middle(inputs),
            norm_out=group_norm(inputs),
            conv_out=convolution(inputs, latent, (3, 3)),
        ),
    )
    scores = linear(width, config.integer("codebook_size"), bias=False)
    return Module(
        "ImageTokenizer",
        children=children(
            encoder=encoder,
            quantize=Module("VectorQuantizer", children=children(embedding=scores)),
            quant_conv=convolution(latent, width, (1, 1)),
        ),
    )


def build(config: ModelConfig) -> Module:
    if config.model_type == "apertus1p5_vision_tokenizer":
        return image_tokenizer(config)
    text = config.nested_config("text_config")
    parts: dict[str, Module | Stack | None] = {
        "language_model": text_model(config),
        "vision_tokenizer": tower(config),
        "audio_tokenizer": tower(config, "audio_config", "audio"),
    }
    vocabulary = text.optional_integer("output_vocab_size") or text.integer("vocab_size")
    return with_output_head(config, parts, vocabulary=vocabulary)
