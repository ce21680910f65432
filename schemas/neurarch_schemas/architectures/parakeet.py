"""Speech encoders of Parakeet, LASR and Nemotron ASR (FastConformer) with CTC and transducer heads.

Streaming encoders convolve causally and normalize by layer instead of by batch.
"""

from __future__ import annotations

from math import log2

from neurarch_schemas.architectures import build_nested
from neurarch_schemas.architectures.decoder import head_dim
from neurarch_schemas.architectures.language_heads import unknown_head
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.attention import attention
from neurarch_schemas.modules.conformer import conformer_block, convolution_module, relative_attention
from neurarch_schemas.modules.layers import batch_norm, convolution, layer_norm, linear, lstm, token_embedding
from neurarch_schemas.modules.tree import Module, Run, Stack, children, concatenate, stack

MODEL_TYPES = (
    "parakeet_encoder",
    "parakeet_ctc",
    "parakeet_rnnt",
    "parakeet_tdt",
    "lasr_encoder",
    "lasr_ctc",
    "nemotron_asr_streaming_encoder",
    "nemotron_asr_streaming",
    "nemotron3_5_asr",
)

_ENCODERS = ("parakeet_encoder", "lasr_encoder", "nemotron_asr_streaming_encoder")
_ACTIVATION = Module("Activation")


def stages(config: ModelConfig) -> int:
    """Halvings of the frame rate."""
    factor = config.integer("subsampling_factor")
    if factor < 1:
        raise CannotBuild("subsampling_factor is zero", ("subsampling_factor",))
    return int(log2(factor))


def subsampling(config: ModelConfig) -> Module:
    """Convolutions over time and frequency at once, then one linear map of what is left of the frequencies."""
    channels, kernel = config.integer("subsampling_conv_channels"), config.integer("subsampling_conv_kernel_size")
    stride, bins, count = config.integer("subsampling_conv_stride"), config.integer("num_mel_bins"), stages(config)
    first = convolution(1, channels, (kernel, kernel))
    depthwise = convolution(channels, channels, (kernel, kernel), groups=channels)
    pointwise = convolution(channels, channels, (1, 1))
    hidden = config.integer("hidden_size")
    if config.model_type == "nemotron_asr_streaming_encoder":
        for _ in range(count):
            # Padded on the past side by the kernel and by the stride.
            bins = (bins + stride - 2) // stride + 1
        layer = Module("SubsamplingLayer", children=children(depthwise_conv=depthwise, pointwise_conv=pointwise))
        return Module(
            "Subsampling",
            children=children(
                conv_in=first, layers=uniform(layer, max(count - 1, 0)), linear=linear(channels * bins, hidden)
            ),
        )
    later = Stack((Run((depthwise, pointwise, _ACTIVATION), count - 1),)) if count > 1 else Stack(())
    return Module(
        "Subsampling",
        children=children(
            layers=concatenate(stack(first, _ACTIVATION), later),
            linear=linear(channels * (bins // stride**count), hidden),
        ),
    )


def dense_subsampling(config: ModelConfig) -> Module:
    """LASR: two strided convolutions over time between linear maps."""
    hidden, channels = config.integer("hidden_size"), config.integer("subsampling_conv_channels")
    kernel = (config.integer("subsampling_conv_kernel_size"),)
    return Module(
        "Subsampling",
        children=children(
            dense_0=linear(config.integer("num_mel_bins"), hidden),
            conv_0=convolution(hidden, hidden, kernel),
            conv_1=convolution(hidden, channels, kernel),
            dense_1=linear(channels, hidden),
        ),
    )


def block(config: ModelConfig) -> Module:
    hidden, heads, bias = (
        config.integer("hidden_size"),
        config.integer("num_attention_heads"),
        config.flag("attention_bias"),
    )
    kv_heads, given = config.optional_integer("num_key_value_heads"), config.optional_integer("head_dim")
    lasr, streaming = config.model_type == "lasr_encoder", config.model_type == "nemotron_asr_streaming_encoder"
    if lasr:
        mixer = attention(hidden, heads, kv_heads, head_dim(config), bias=bias, kind="encoder", cached=False)
    else:
        mixer = relative_attention(hidden, heads, kv_heads, given, bias)
    norm = layer_norm(hidden) if streaming else batch_norm(hidden)
    conv = convolution_module(hidden, config.integer("conv_kernel_size"), norm, bias=config.flag("convolution_bias"))
    return conformer_block(
        hidden,
        config.integer("intermediate_size"),
        mixer,
        conv,
        bias=bias,
        norm=layer_norm(hidden, bias=False) if lasr else None,
    )


def encoder(config: ModelConfig) -> Module:
    hidden, lasr = config.integer("hidden_size"), config.model_type == "lasr_encoder"
    return Module(
        "Encoder",
        children=children(
            subsampler=dense_subsampling(config) if lasr else None,
            subsampling=None if lasr else subsampling(config),
            layers=uniform(block(config), config.integer("num_hidden_layers")),
            out_norm=layer_norm(hidden, bias=False) if lasr else None,
        ),
        part="audio",
        width_out=hidden,
    )


def prediction_network(config: ModelConfig) -> Module:
    """The transducer's language model: an LSTM over the tokens written so far."""
    width = config.integer("decoder_hidden_size")
    return Module(
        "PredictionNetwork",
        children=children(
            embedding=token_embedding(config.integer("vocab_size"), width),
            lstm=lstm(width, config.integer("num_decoder_layers")),
            decoder_projector=linear(width, width),
        ),
    )


def prompt_projector(config: ModelConfig, hidden: int) -> Module:
    """Adds the language asked for to every frame."""
    inner = config.integer("prompt_intermediate_size")
    return Module(
        "PromptProjector",
        children=children(
            linear_1=linear(hidden + config.integer("num_prompts"), inner), linear_2=linear(inner, hidden)
        ),
        part="projector",
    )


def build(config: ModelConfig) -> Module:
    architecture = config.architecture
    if config.model_type in _ENCODERS:
        if architecture.endswith(("Encoder", "Model")):
            return encoder(config)
        raise unknown_head(architecture)
    hidden, vocabulary = config.nested_config("encoder_config").integer("hidden_size"), config.integer("vocab_size")
    audio = build_nested(config, "encoder_config", "Encoder")
    if architecture.endswith("ForCTC"):
        head = convolution(hidden, vocabulary, (1,)).with_(part="head")
        return Module(architecture, children=children(encoder=audio, ctc_head=head))
    if not architecture.endswith(("ForRNNT", "ForTDT")):
        raise unknown_head(architecture)
    width = config.integer("decoder_hidden_size")
    # A token-and-duration transducer also predicts how many frames to skip.
    durations = len(config.items("durations")) if architecture.endswith("ForTDT") else 0
    joint = Module("JointNetwork", children=children(head=linear(width, vocabulary + durations)), part="head")
    return Module(
        architecture,
        children=children(
            encoder=audio,
            encoder_projector=linear(hidden, width, part="projector"),
            decoder=prediction_network(config),
            joint=joint,
            prompt_projector=prompt_projector(config, hidden) if config.model_type == "nemotron3_5_asr" else None,
        ),
    )
