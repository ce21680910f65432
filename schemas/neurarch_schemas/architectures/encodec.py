"""EnCodec: convolutions and an LSTM on either side of residual quantizers."""

from __future__ import annotations

from math import ceil, log2, prod

from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.layers import convolution, group_norm, lstm, transposed_convolution, weight_normed
from neurarch_schemas.modules.tree import Module, Run, Stack, Tensor, children, stack

MODEL_TYPES = ("encodec",)

ACTIVATION = Module("ELU")


def normed(config: ModelConfig, layer: Module, channels: int) -> Module:
    """The convolution's weight split into length and direction, or a group norm behind it."""
    kind = config.text("norm_type")
    if kind == "weight_norm":
        return Module(layer.type, children=children(conv=weight_normed(layer)))
    if kind == "time_group_norm":
        return Module(layer.type, children=children(conv=layer, norm=group_norm(channels)))
    raise CannotBuild(f"norm_type {kind!r} is neither weight_norm nor time_group_norm", ("norm_type",))


def conv(config: ModelConfig, inputs: int, outputs: int, kernel: int) -> Module:
    return normed(config, convolution(inputs, outputs, (kernel,)), outputs)


def transposed(config: ModelConfig, inputs: int, outputs: int, kernel: int) -> Module:
    return normed(config, transposed_convolution(inputs, outputs, (kernel,)), outputs)


def residual_block(config: ModelConfig, width: int) -> Module:
    inner = width // config.integer("compress")
    kernel = config.integer("residual_kernel_size")
    block = stack(ACTIVATION, conv(config, width, inner, kernel), ACTIVATION, conv(config, inner, width, 1))
    shortcut = conv(config, width, width, 1) if config.flag("use_conv_shortcut") else None
    return Module("ResidualBlock", children=children(block=block, shortcut=shortcut))


def recurrent(config: ModelConfig, width: int) -> Module:
    return Module("LSTM", children=children(lstm=lstm(width, config.integer("num_lstm_layers"))))


def encoder(config: ModelConfig) -> Module:
    """Every stage lowers the rate by its ratio and doubles the channels."""
    width = config.integer("num_filters")
    runs = [Run((conv(config, config.integer("audio_channels"), width, config.integer("kernel_size")),))]
    for ratio in reversed(config.integers("upsampling_ratios")):
        runs.append(Run((residual_block(config, width),), config.integer("num_residual_layers")))
        runs.append(Run((ACTIVATION, conv(config, width, 2 * width, 2 * ratio))))
        width *= 2
    last = conv(config, width, config.integer("hidden_size"), config.integer("last_kernel_size"))
    runs.append(Run((recurrent(config, width), ACTIVATION, last)))
    return Module("Encoder", children=children(layers=Stack(tuple(runs))))


def decoder(config: ModelConfig) -> Module:
    ratios, filters = config.integers("upsampling_ratios"), config.integer("num_filters")
    scale = 1 << len(ratios)
    first = conv(config, config.integer("hidden_size"), scale * filters, config.integer("kernel_size"))
    runs = [Run((first, recurrent(config, scale * filters)))]
    for ratio in ratios:
        width = scale * filters
        runs.append(Run((ACTIVATION, transposed(config, width, width // 2, 2 * ratio))))
        runs.append(Run((residual_block(config, width // 2),), config.integer("num_residual_layers")))
        scale //= 2
    last = conv(config, filters, config.integer("audio_channels"), config.integer("last_kernel_size"))
    runs.append(Run((ACTIVATION, last)))
    return Module("Decoder", children=children(layers=Stack(tuple(runs))))


def quantizer_count(config: ModelConfig) -> int:
    """As many codebooks as the largest bandwidth (kbit/s) has room for at the frame rate."""
    bandwidths = config.items("target_bandwidths")
    largest = bandwidths[-1] if bandwidths else None
    size = config.integer("codebook_size")
    if not isinstance(largest, int | float) or size < 1:
        raise CannotBuild(
            "target_bandwidths and codebook_size do not give a number of quantizers", ("target_bandwidths",)
        )
    rate = ceil(config.integer("sampling_rate") / prod(config.integers("upsampling_ratios")))
    return int(1000 * largest // (rate * ceil(log2(size))))


def quantizer(config: ModelConfig) -> Module:
    size = config.integer("codebook_size")
    width = config.integer("codebook_dim", config.integer("hidden_size"))
    codebook = Module(
        "Codebook",
        (
            Tensor("inited", (1,), "buffer"),
            Tensor("cluster_size", (size,), "buffer"),
            Tensor("embed", (size, width), "buffer"),
            Tensor("embed_avg", (size, width), "buffer"),
        ),
    )
    layer = Module("VectorQuantization", children=children(codebook=codebook))
    return Module("ResidualVectorQuantizer", children=children(layers=uniform(layer, quantizer_count(config))))


def build(config: ModelConfig) -> Module:
    if head_name(config.architecture) != "Model":
        raise unknown_head(config.architecture)
    return Module(
        "EncodecModel",
        children=children(encoder=encoder(config), decoder=decoder(config), quantizer=quantizer(config)),
        part="audio",
    )
