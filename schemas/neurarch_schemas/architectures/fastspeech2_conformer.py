"""FastSpeech 2 (arXiv:2006.04558) with Conformer blocks, alone and with its vocoder."""

from __future__ import annotations

from neurarch_schemas.architectures import speecht5
from neurarch_schemas.architectures.language_heads import unknown_head
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.layers import batch_norm, convolution, embedding, layer_norm, linear
from neurarch_schemas.modules.tree import Module, Stack, Tensor, concatenate, named, stack
from neurarch_schemas.modules.vision import vit_attention
from neurarch_schemas.modules.vocoder import postnet

MODEL_TYPES = ("fastspeech2_conformer", "fastspeech2_conformer_with_hifigan")


def side_setting(config: ModelConfig, side: str, name: str) -> int:
    """A written ``encoder_config`` or ``decoder_config`` replaces the keys with the side's prefix, as a whole."""
    key = f"{side}_config"
    if not config.is_set(key):
        return int(config.flag(f"{side}_{name}")) if name == "concat_after" else config.integer(f"{side}_{name}")
    value = config.mapping(key).get(name)
    if not isinstance(value, int):
        raise CannotBuild(f"{key}.{name} must be given", (key,))
    return int(value)


def layer(config: ModelConfig, side: str) -> Module:
    hidden, heads = config.integer("hidden_size"), side_setting(config, side, "num_attention_heads")
    kernel, biased = side_setting(config, side, "kernel_size"), config.flag("convolution_bias")
    inner, width = side_setting(config, side, "linear_units"), (config.integer("positionwise_conv_kernel_size"),)
    macaron, convolves = config.flag("use_macaron_style_in_conformer"), config.flag("use_cnn_in_conformer")
    biases = tuple(Tensor(name, (heads, hidden // heads)) for name in ("pos_bias_u", "pos_bias_v"))
    names = ("linear_q", "linear_k", "linear_v", "linear_out")
    extra: dict[str, Module | Stack | None] = {"linear_pos": linear(hidden, hidden, bias=False)}
    forward = Module(
        "FeedForward",
        children=named({"conv1": convolution(hidden, inner, width), "conv2": convolution(inner, hidden, width)}),
        part="feed-forward",
    )
    mixing: dict[str, Module | Stack | None] = {
        "pointwise_conv1": convolution(hidden, 2 * hidden, (1,), bias=biased),
        "depthwise_conv": convolution(hidden, hidden, (kernel,), bias=biased, groups=hidden),
        "norm": batch_norm(hidden),
        "pointwise_conv2": convolution(hidden, hidden, (1,), bias=biased),
    }
    parts: dict[str, Module | Stack | None] = {
        "self_attn": vit_attention(
            hidden, heads, width=hidden, names=names, position="relative", tensors=biases, extra=extra
        ),
        "feed_forward": forward,
        "feed_forward_macaron": forward if macaron else None,
        "ff_macaron_layer_norm": layer_norm(hidden) if macaron else None,
        "conv_module": Module("ConvolutionModule", children=named(mixing), part="convolution") if convolves else None,
        "conv_layer_norm": layer_norm(hidden) if convolves else None,
        "final_layer_norm": layer_norm(hidden) if convolves else None,
        "ff_layer_norm": layer_norm(hidden),
        "self_attn_layer_norm": layer_norm(hidden),
        "concat_linear": linear(2 * hidden, hidden) if side_setting(config, side, "concat_after") else None,
    }
    return Module("ConformerLayer", children=named(parts))


def encoder(config: ModelConfig, side: str) -> Module:
    table = embedding(config.integer("vocab_size"), config.integer("hidden_size"), lookup=True)
    parts: dict[str, Module | Stack | None] = {
        "embed": table if side == "encoder" else None,
        "conformer_layers": stack(layer(config, side), times=side_setting(config, side, "layers")),
    }
    return Module("Encoder", children=named(parts))


def predictor(config: ModelConfig, what: str) -> Module:
    """Convolutions and a linear map to one number for each position."""
    hidden, width = config.integer("hidden_size"), config.integer(f"{what}_predictor_channels")
    count, kernel = config.integer(f"{what}_predictor_layers"), (config.integer(f"{what}_predictor_kernel_size"),)

    def step(inputs: int) -> Module:
        parts = {"conv": convolution(inputs, width, kernel), "layer_norm": layer_norm(width)}
        return Module("PredictorLayer", children=named(parts))

    steps = concatenate(stack(step(hidden), times=min(count, 1)), stack(step(width), times=count - 1))
    return Module("VariancePredictor", children=(("conv_layers", steps), ("linear", linear(width, 1))))


def text_to_spectrogram(config: ModelConfig) -> Module:
    hidden, bins = config.integer("hidden_size"), config.integer("num_mel_bins")
    languages, speakers = config.integer("num_languages", 0), config.integer("num_speakers", 0)
    speaker = config.integer("speaker_embed_dim", 0)

    def embedded(what: str) -> Module:
        return convolution(1, hidden, (config.integer(f"{what}_embed_kernel_size"),))

    parts: dict[str, Module | Stack | None] = {
        "language_id_embedding": embedding(languages, hidden) if languages > 1 else None,
        "speaker_id_embedding": embedding(speakers, hidden) if speakers > 1 else None,
        "projection": linear(hidden + speaker, hidden) if speaker else None,
        "encoder": encoder(config, "encoder"),
        "duration_predictor": predictor(config, "duration"),
        "pitch_predictor": predictor(config, "pitch"),
        "pitch_embed.conv": embedded("pitch"),
        "energy_predictor": predictor(config, "energy"),
        "energy_embed.conv": embedded("energy"),
        "decoder": encoder(config, "decoder"),
        "speech_decoder_postnet.feat_out": linear(hidden, bins * config.integer("reduction_factor"), part="head"),
        "speech_decoder_postnet.layers": postnet(config),
    }
    return Module("Model", children=named(parts))


def build(config: ModelConfig) -> Module:
    if config.model_type == "fastspeech2_conformer":
        if config.architecture != "FastSpeech2ConformerModel":
            raise unknown_head(config.architecture)
        return text_to_spectrogram(config)
    parts = {
        "model": text_to_spectrogram(config.nested_config("model_config")),
        "vocoder": speecht5.vocoder(config.nested_config("vocoder_config")),
    }
    return Module(config.architecture, children=named(parts))
