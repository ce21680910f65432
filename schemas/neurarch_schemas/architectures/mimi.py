"""Mimi, the audio codec of Moshi and CSM: SEANet convolutions, a transformer and split residual quantizers.

Pocket TTS's audio tokenizer is built the same way, with continuous latents instead of the quantizers.

The two halves share every key; a file that says ``"encoder_config": null`` (or decoder) holds the other half only.
"""

from __future__ import annotations

from math import ceil, prod

from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.attention import attention
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import convolution, layer_norm, transposed_convolution
from neurarch_schemas.modules.tree import Module, Run, Stack, Tensor, children, named, stack

MODEL_TYPES = (
    "mimi",
    "mimi_encoder",
    "mimi_decoder",
    "pocket_tts_audio_tokenizer",
    "pocket_tts_audio_tokenizer_encoder",
    "pocket_tts_audio_tokenizer_decoder",
)

ACTIVATION = Module("ELU")


def conv(inputs: int, outputs: int, kernel: int, *, bias: bool = True) -> Module:
    return Module("Conv1d", children=children(conv=convolution(inputs, outputs, (kernel,), bias=bias)))


def transposed(inputs: int, outputs: int, kernel: int, *, bias: bool = True, groups: int = 1) -> Module:
    inner = transposed_convolution(inputs, outputs, (kernel,), bias=bias, groups=groups)
    return Module("ConvTranspose1d", children=children(conv=inner))


def residual_block(config: ModelConfig, width: int) -> Module:
    inner = width // config.integer("compress")
    block = stack(
        ACTIVATION,
        conv(width, inner, config.integer("residual_kernel_size")),
        ACTIVATION,
        conv(inner, width, 1),
    )
    shortcut = conv(width, width, 1) if config.flag("use_conv_shortcut") else None
    return Module("ResidualBlock", children=children(block=block, shortcut=shortcut))


def seanet_encoder(config: ModelConfig) -> Module:
    """Every stage halves the rate by its ratio and doubles the channels."""
    width = config.integer("num_filters")
    runs = [Run((conv(config.integer("audio_channels"), width, config.integer("kernel_size")),))]
    for ratio in reversed(config.integers("upsampling_ratios")):
        runs.append(Run((residual_block(config, width),), config.integer("num_residual_layers")))
        runs.append(Run((ACTIVATION, conv(width, 2 * width, 2 * ratio))))
        width *= 2
    runs.append(Run((ACTIVATION, conv(width, config.integer("hidden_size"), config.integer("last_kernel_size")))))
    return Module("SEANetEncoder", children=children(layers=Stack(tuple(runs))))


def seanet_decoder(config: ModelConfig) -> Module:
    ratios, filters = config.integers("upsampling_ratios"), config.integer("num_filters")
    scale = 1 << len(ratios)
    runs = [Run((conv(config.integer("hidden_size"), scale * filters, config.integer("kernel_size")),))]
    for ratio in ratios:
        width = scale * filters
        runs.append(Run((ACTIVATION, transposed(width, width // 2, 2 * ratio))))
        runs.append(Run((residual_block(config, width // 2),), config.integer("num_residual_layers")))
        scale //= 2
    last = conv(filters, config.integer("audio_channels"), config.integer("last_kernel_size"))
    runs.append(Run((ACTIVATION, last)))
    return Module("SEANetDecoder", children=children(layers=Stack(tuple(runs))))


def transformer(config: ModelConfig) -> Module:
    hidden = config.integer("hidden_size")
    scale = Module("LayerScale", (Tensor("scale", (hidden,)),))
    block = Module(
        "TransformerLayer",
        children=children(
            self_attn=attention(
                hidden,
                config.integer("num_attention_heads"),
                config.optional_integer("num_key_value_heads"),
                config.optional_integer("head_dim"),
                bias=config.flag("attention_bias"),
                window=config.optional_integer("sliding_window"),
                cached=False,
            ),
            mlp=mlp(hidden, config.integer("intermediate_size"), bias=False),
            input_layernorm=layer_norm(hidden),
            post_attention_layernorm=layer_norm(hidden),
            self_attn_layer_scale=scale,
            mlp_layer_scale=scale,
        ),
    )
    return Module("Transformer", children=children(layers=uniform(block, config.integer("num_hidden_layers"))))


def is_continuous(config: ModelConfig) -> bool:
    return config.model_type.startswith("pocket_tts")


def latent_stride(config: ModelConfig) -> int | None:
    """How many convolution frames make one codec frame; None where the rates are equal and nothing is resampled."""
    hop, sampling = prod(config.integers("upsampling_ratios")), config.integer("sampling_rate")
    rate = ceil(sampling / hop)
    if is_continuous(config):
        stride = config.integer("latent_stride")
        return None if sampling / (hop * stride) == rate else stride
    given = next((key for key in ("frame_rate", "_frame_rate") if config.is_set(key)), None)
    # A frame is one step of the convolutions and of a downsampling by two.
    frame_rate = sampling / (2 * hop) if given is None else config.number(given)
    return None if frame_rate == rate else int(rate / frame_rate)


def encoder(config: ModelConfig) -> Module:
    hidden, stride = config.integer("hidden_size"), latent_stride(config)
    width = config.integer("latent_dim") if is_continuous(config) else hidden
    return Module(
        "EncoderModel",
        children=children(
            encoder_seanet=seanet_encoder(config),
            encoder_transformer=transformer(config),
            downsample=None if stride is None else conv(hidden, width, 2 * stride, bias=False),
        ),
        width_out=hidden if stride is None else width,
    )


def decoder(config: ModelConfig) -> Module:
    hidden, stride, groups = config.integer("hidden_size"), latent_stride(config), config.integer("upsample_groups")
    upsample = None if stride is None else transposed(hidden, hidden, 2 * stride, bias=False, groups=groups)
    return Module(
        "DecoderModel",
        children=children(
            upsample=upsample, decoder_transformer=transformer(config), decoder_seanet=seanet_decoder(config)
        ),
    )


def quantizer(config: ModelConfig, books: int) -> Module:
    """``books`` codebooks, each quantizing what the ones before leave; running averages of the codes are buffers."""
    hidden, inner = config.integer("hidden_size"), config.integer("vector_quantization_hidden_dimension")
    size, width = config.integer("codebook_size"), config.integer("codebook_dim", hidden)
    codebook = Module(
        "Codebook",
        (
            Tensor("initialized", (1,), "buffer"),
            Tensor("cluster_usage", (size,), "buffer"),
            Tensor("embed_sum", (size, width), "buffer"),
        ),
    )
    layer = Module("VectorQuantization", children=children(codebook=codebook))
    projected = inner != hidden
    return Module(
        "ResidualVectorQuantizer",
        children=children(
            layers=uniform(layer, books),
            input_proj=convolution(hidden, inner, (1,), bias=False) if projected else None,
            output_proj=convolution(inner, hidden, (1,), bias=False) if projected else None,
        ),
    )


def split_quantizer(config: ModelConfig) -> Module:
    semantic, books = config.integer("num_semantic_quantizers"), config.integer("num_quantizers")
    if semantic >= books:
        keys = ("num_semantic_quantizers", "num_quantizers")
        raise CannotBuild(f"of {books} quantizers {semantic} are semantic, which leaves no acoustic one", keys)
    return Module(
        "SplitResidualVectorQuantizer",
        children=children(
            semantic_residual_vector_quantizer=quantizer(config, semantic),
            acoustic_residual_vector_quantizer=quantizer(config, books - semantic),
        ),
    )


def dropped(config: ModelConfig, half: str) -> bool:
    """The file itself says null for this half."""
    setting = config.setting(f"{half}_config")
    return setting is not None and setting.origin == "written" and setting.value is None


def build(config: ModelConfig) -> Module:
    if head_name(config.architecture) != "Model":
        raise unknown_head(config.architecture)
    if config.model_type.endswith("_encoder"):
        return encoder(config).with_(part="audio")
    if config.model_type.endswith("_decoder"):
        return decoder(config).with_(part="audio")
    parts: dict[str, Module | Stack | None] = {
        "encoder": None if dropped(config, "encoder") else encoder(config),
        "decoder": None if dropped(config, "decoder") else decoder(config),
    }
    if is_continuous(config):
        latent = convolution(config.integer("latent_dim"), config.integer("hidden_size"), (1,), bias=False)
        return Module("AudioTokenizer", children=named({**parts, "latent_proj": latent}), part="audio")
    return Module("MimiModel", children=named({**parts, "quantizer": split_quantizer(config)}), part="audio")
