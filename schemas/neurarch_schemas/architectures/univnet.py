"""UnivNet (arXiv:2106.07889): a vocoder whose convolutions have their kernels predicted from the spectrogram."""

from __future__ import annotations

from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.layers import convolution, transposed_convolution
from neurarch_schemas.modules.tree import Module, Stack, named, stack
from neurarch_schemas.modules.vocoder import dilation_counts

MODEL_TYPES = ("univnet",)


def kernel_predictor(config: ModelConfig, kernel: int, layers: int) -> Module:
    hidden, size = config.integer("kernel_predictor_hidden_channels"), config.integer("kernel_predictor_conv_size")
    channels, inside = config.integer("model_hidden_channels"), config.integer("model_in_channels")
    outputs = 2 * channels * layers
    same = convolution(inside, inside, (size,))
    residual = Module("ResidualBlock", children=named({"conv1": same, "conv2": same}))
    parts: dict[str, Module | Stack | None] = {
        "input_conv": convolution(config.integer("num_mel_bins"), hidden, (5,)),
        "resblocks": stack(residual, times=config.integer("kernel_predictor_num_blocks")),
        "kernel_conv": convolution(hidden, channels * outputs * kernel, (size,)),
        "bias_conv": convolution(hidden, outputs, (size,)),
    }
    return Module("KernelPredictor", children=named(parts))


def build(config: ModelConfig) -> Module:
    if head_name(config.architecture) != "Model":
        raise unknown_head(config.architecture)
    channels = config.integer("model_hidden_channels")
    kernels, strides = config.integers("resblock_kernel_sizes"), config.integers("resblock_stride_sizes")
    blocks = []
    for kernel, stride, dilations in zip(kernels, strides, dilation_counts(config), strict=False):
        residual = Module("ResidualBlock", children=named({"conv": convolution(channels, channels, (kernel,))}))
        parts: dict[str, Module | Stack | None] = {
            "convt_pre": transposed_convolution(channels, channels, (2 * stride,)),
            "kernel_predictor": kernel_predictor(config, kernel, dilations),
            "resblocks": stack(residual, times=dilations),
        }
        blocks.append(Module("VariableConvolutionBlock", children=named(parts)))
    model: dict[str, Module | Stack | None] = {
        "conv_pre": convolution(config.integer("model_in_channels"), channels, (7,)),
        "resblocks": stack(*blocks),
        "conv_post": convolution(channels, 1, (7,)),
    }
    return Module("Model", children=named(model), part="audio")
