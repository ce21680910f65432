"""X-Codec (arXiv:2408.17175): a convolutional audio codec beside the features of a speech encoder."""

from __future__ import annotations

from math import ceil, log2, prod

from neurarch_schemas.architectures import build_nested, dac
from neurarch_schemas.architectures.language_heads import unknown_head
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.layers import convolution, linear, transposed_convolution
from neurarch_schemas.modules.tree import Module, Stack, Tensor, named, stack

MODEL_TYPES = ("xcodec",)


def ratios(config: ModelConfig, count: int) -> tuple[float, ...]:
    values = tuple(float(v) for v in config.items("channel_ratios") if isinstance(v, int | float))
    if len(values) != count:
        raise CannotBuild("strides and channel_ratios must be equally long", ("strides", "channel_ratios"))
    return values


def residual_units(config: ModelConfig, width: int) -> Stack:
    parts = {
        "conv1": convolution(width, width, (config.integer("unit_kernel_size"),), bias=False),
        "conv2": convolution(width, width, (1,), bias=False),
    }
    return stack(Module("ResidualUnit", children=named(parts)), times=len(config.items("block_dilations")))


def semantic_encoder(config: ModelConfig, hidden: int) -> Module:
    strides = config.integers("strides")
    inputs, blocks = hidden, []
    for stride, ratio in zip(strides, ratios(config, len(strides)), strict=True):
        outputs = int(hidden * ratio)
        conv = convolution(inputs, outputs, (3 if stride == 1 else 2 * stride,))
        parts: dict[str, Module | Stack | None] = {"res_units": residual_units(config, inputs), "conv": conv}
        blocks.append(Module("EncoderBlock", children=named(parts)))
        inputs = outputs
    first = convolution(hidden, hidden, (config.integer("kernel_size"),), bias=False)
    return Module("SemanticEncoder", children=named({"conv": first, "conv_blocks": stack(*blocks)}))


def semantic_decoder(config: ModelConfig, hidden: int) -> Module:
    strides, kernel = config.integers("strides"), (config.integer("kernel_size"),)
    widths = [int(hidden * ratio) for ratio in ratios(config, len(strides))] + [hidden]
    blocks = []
    for index, stride in enumerate(strides):
        inputs, outputs = widths[index], widths[index + 1]
        if stride == 1:
            conv = convolution(inputs, outputs, (3,))
        else:
            conv = transposed_convolution(inputs, outputs, (2 * stride,), bias=False)
        parts: dict[str, Module | Stack | None] = {"conv": conv, "res_units": residual_units(config, outputs)}
        blocks.append(Module("DecoderBlock", children=named(parts)))
    ends: dict[str, Module | Stack | None] = {
        "conv1": convolution(hidden, widths[0], kernel, bias=False),
        "conv_blocks": stack(*blocks),
        "conv2": convolution(hidden, hidden, kernel, bias=False),
    }
    return Module("SemanticDecoder", children=named(ends))


def codebook_count(config: ModelConfig, acoustic: ModelConfig) -> int:
    """As many as the widest bandwidth (kbit/s) holds at the frame rate."""
    bandwidths = [v for v in config.items("target_bandwidths") if isinstance(v, int | float)]
    hop = prod(acoustic.integers("downsampling_ratios"))
    if not bandwidths or not hop:
        raise CannotBuild("target_bandwidths must be a list of numbers", ("target_bandwidths",))
    rate = ceil(config.integer("sample_rate") / hop)
    return int(1000 * bandwidths[-1] // (rate * ceil(log2(config.integer("codebook_size")))))


def build(config: ModelConfig) -> Module:
    if config.architecture != "XcodecModel":
        raise unknown_head(config.architecture)
    acoustic, semantic = config.nested_config("acoustic_model_config"), config.nested_config("semantic_model_config")
    if acoustic.model_type != "dac":
        raise CannotBuild(f"an acoustic model of type {acoustic.model_type!r} is not known", ("acoustic_model_config",))
    width, features = acoustic.integer("hidden_size"), semantic.integer("hidden_size")
    both = width + features
    size, dim = config.integer("codebook_size"), config.integer("codebook_dim", both)
    shapes = {"inited": (1,), "cluster_size": (size,), "embed": (size, dim), "embed_avg": (size, dim)}
    codebook = Module("Codebook", tuple(Tensor(name, shape, "buffer") for name, shape in shapes.items()))
    quantizer = Module("VectorQuantizer", children=named({"codebook": codebook}))
    parts: dict[str, Module | Stack | None] = {
        "acoustic_encoder": dac.encoder(acoustic, width),
        "acoustic_decoder": dac.decoder(acoustic, width),
        "encoder_semantic": semantic_encoder(config, features),
        "decoder_semantic": semantic_decoder(config, features),
        "semantic_model": build_nested(config, "semantic_model_config", "Model"),
        "fc": linear(both, both),
        "fc1": linear(both, features),
        "fc2": linear(both, width),
        "quantizer.quantizers": stack(quantizer, times=codebook_count(config, acoustic)),
    }
    return Module("Model", children=named(parts), part="audio")
