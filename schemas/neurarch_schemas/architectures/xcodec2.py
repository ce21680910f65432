"""X-Codec 2 (arXiv:2502.04128) and NeuCodec: speech features and a convolutional encoder, quantized into one code."""

from __future__ import annotations

from math import prod

from neurarch_schemas.architectures import build_nested
from neurarch_schemas.architectures.language_heads import unknown_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.attention import attention
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import convolution, group_norm, layer_norm, linear, rms_norm
from neurarch_schemas.modules.tree import Module, Stack, Tensor, named, stack

MODEL_TYPES = ("xcodec2", "neucodec")


def snake(width: int) -> Module:
    """x + sin(ax)^2 / b with learned ``a`` and ``b`` for each channel (BigVGAN, arXiv:2206.04658)."""
    learned = Module("SnakeBeta", (Tensor("alpha", (width,)), Tensor("beta", (width,))))
    return Module("AntiAliasedActivation", children=(("act", learned),))


def acoustic_encoder(config: ModelConfig, hidden: int) -> Module:
    """DAC's encoder with anti-aliased activations."""
    width = config.integer("encoder_hidden_size")
    first, blocks = convolution(1, width, (7,)), []
    for ratio in config.integers("downsampling_ratios"):
        unit: dict[str, Module | Stack | None] = {
            "snake1": snake(width),
            "conv1": convolution(width, width, (7,)),
            "snake2": snake(width),
            "conv2": convolution(width, width, (1,)),
        }
        residual = Module("ResidualUnit", children=named(unit))
        parts: dict[str, Module | Stack | None] = {f"res_unit{number}": residual for number in (1, 2, 3)}
        parts["snake1"] = snake(width)
        parts["conv1"] = convolution(width, 2 * width, (2 * ratio,))
        blocks.append(Module("EncoderBlock", children=named(parts)))
        width *= 2
    model: dict[str, Module | Stack | None] = {
        "conv1": first,
        "block": stack(*blocks),
        "snake1": snake(width),
        "conv2": convolution(width, hidden, (3,)),
    }
    return Module("Encoder", children=named(model))


def decoder_layer(config: ModelConfig) -> Module:
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    mixer = attention(
        hidden,
        heads,
        config.integer("num_key_value_heads", heads),
        config.integer("head_dim", hidden // heads),
        bias=config.flag("attention_bias"),
        kind="encoder",
        cached=False,
    )
    parts: dict[str, Module | Stack | None] = {
        "self_attn": mixer,
        "mlp": mlp(hidden, config.integer("intermediate_size"), bias=False),
        "input_layernorm": rms_norm(hidden),
        "post_attention_layernorm": rms_norm(hidden),
    }
    return Module("DecoderLayer", children=named(parts))


def acoustic_decoder(config: ModelConfig, both: int) -> Module:
    """Predicts the real and imaginary part of a Fourier transform of four hops."""
    hidden, hop = config.integer("hidden_size"), prod(config.integers("downsampling_ratios"))
    if config.model_type == "neucodec":
        incoming = config.integer("input_sampling_rate")
        hop = int(hop * (config.integer("output_sampling_rate") / incoming)) if incoming else hop
    wide = convolution(hidden, hidden, (3,))
    block: dict[str, Module | Stack | None] = {
        "norm1": group_norm(hidden),
        "conv1": wide,
        "norm2": group_norm(hidden),
        "conv2": wide,
    }
    residual = stack(Module("ResidualBlock", children=named(block)), times=2)
    parts: dict[str, Module | Stack | None] = {
        "fc": linear(both, hidden),
        "embed": convolution(hidden, hidden, (7,)),
        "prior_net": residual,
        "layers": stack(decoder_layer(config), times=config.integer("num_hidden_layers")),
        "post_net": residual,
        "norm": layer_norm(hidden),
        "head.linear": linear(hidden, 4 * hop + 2),
    }
    return Module("Decoder", children=named(parts))


def build(config: ModelConfig) -> Module:
    if config.architecture not in ("Xcodec2Model", "NeuCodecModel"):
        raise unknown_head(config.architecture)
    features, hidden = (
        config.nested_config("semantic_model_config").integer("hidden_size"),
        config.integer("hidden_size"),
    )
    both, levels = hidden + features, len(config.items("quantization_levels"))
    codes = config.integer("quantization_dim")
    adapter = {f"conv{number}": convolution(features, features, (3,), bias=number in (2, 3)) for number in (1, 2, 3, 4)}
    parts: dict[str, Module | Stack | None] = {
        "semantic_encoder": build_nested(config, "semantic_model_config", "Model"),
        "semantic_adapter": Module("SemanticAdapter", children=named({**adapter})),
        "acoustic_encoder": acoustic_encoder(config, hidden),
        "fc_encoder": linear(both, both),
        "quantizer.project_in": linear(codes, levels),
        "quantizer.project_out": linear(levels, codes),
        "acoustic_decoder": acoustic_decoder(config, both),
    }
    return Module("Model", children=named(parts), part="audio")
