"""Blocks that predict spectrograms, and HiFi-GAN (arXiv:2010.05646), which turns them into sound."""

from __future__ import annotations

from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.layers import batch_norm, convolution, layer_norm, linear, transposed_convolution
from neurarch_schemas.modules.tree import Module, Stack, concatenate, named, stack


def residual_block(channels: int, kernel: int, dilations: int) -> Module:
    """A pair of convolutions for each of ``dilations`` dilations."""
    convolutions = stack(convolution(channels, channels, (kernel,)), times=dilations)
    return Module("ResidualBlock", children=(("convs1", convolutions), ("convs2", convolutions)), part="convolution")


def dilation_counts(config: ModelConfig) -> tuple[int, ...]:
    counts = tuple(len(item) if isinstance(item, list) else -1 for item in config.items("resblock_dilation_sizes"))
    if -1 in counts:
        raise CannotBuild("resblock_dilation_sizes must be a list of lists", ("resblock_dilation_sizes",))
    return counts


def hifi_gan(config: ModelConfig, inputs: int, *, output_bias: bool = True) -> dict[str, Module | Stack | None]:
    """From ``inputs`` channels to samples; each upsampling halves the channels. The parts, for the class to name."""
    widest = config.integer("upsample_initial_channel")
    kernels = config.integers("upsample_kernel_sizes")[: len(config.integers("upsample_rates"))]
    blocks = tuple(zip(config.integers("resblock_kernel_sizes"), dilation_counts(config), strict=False))
    channels, lengthening, residual = widest, [], []
    for index, kernel in enumerate(kernels):
        channels = widest // 2 ** (index + 1)
        lengthening.append(transposed_convolution(widest // 2**index, channels, (kernel,)))
        residual += [residual_block(channels, size, dilations) for size, dilations in blocks]
    return {
        "conv_pre": convolution(inputs, widest, (7,)),
        "upsampler": stack(*lengthening),
        "resblocks": stack(*residual),
        "conv_post": convolution(channels, 1, (7,), bias=output_bias),
    }


def generator(config: ModelConfig, inputs: int, *, output_bias: bool = True) -> Module:
    return Module("HiFiGAN", children=named(hifi_gan(config, inputs, output_bias=output_bias)), part="audio")


def variance_predictor(inputs: int, width: int, kernel: int) -> Module:
    """Two convolutions and a linear map to one number for each position (FastSpeech 2, arXiv:2006.04558)."""
    parts: dict[str, Module | Stack | None] = {
        "conv1": convolution(inputs, width, (kernel,)),
        "ln1": layer_norm(width),
        "conv2": convolution(width, width, (kernel,)),
        "ln2": layer_norm(width),
        "proj": linear(width, 1),
    }
    return Module("VariancePredictor", children=named(parts))


def postnet(config: ModelConfig) -> Stack:
    """Convolutions that refine a predicted spectrogram, as in Tacotron 2 (arXiv:1712.05884)."""
    bins, units = config.integer("num_mel_bins"), config.integer("speech_decoder_postnet_units")
    count, kernel = config.integer("speech_decoder_postnet_layers"), config.integer("speech_decoder_postnet_kernel")

    def layer(inputs: int, outputs: int) -> Module:
        conv = convolution(inputs, outputs, (kernel,), bias=False)
        return Module("PostnetLayer", children=named({"conv": conv, "batch_norm": batch_norm(outputs)}))

    if count == 1:
        return stack(layer(bins, bins))
    return concatenate(
        stack(layer(bins, units), times=min(count, 1)),
        stack(layer(units, units), times=count - 2),
        stack(layer(units, bins), times=min(count, 1)),
    )
