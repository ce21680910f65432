"""Qwen3-Omni with its voice: a thinker, a talker that predicts groups of codec tokens, a convolutional decoder.

The talker's experts write the first code of a frame, a small code predictor the others; code2wav turns them into sound.
"""

from __future__ import annotations

from neurarch_schemas.architectures import build_nested
from neurarch_schemas.architectures.decoder import decoder_layer, feed_forward, self_attention
from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import in_part, layers, lm_head, uniform
from neurarch_schemas.modules.experts import fused_experts, mixture_of_experts, router, shared_experts
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import (
    convolution,
    embedding,
    layer_norm,
    linear,
    rms_norm,
    token_embedding,
    transposed_convolution,
)
from neurarch_schemas.modules.tree import Module, Stack, Tensor, children, stack
from neurarch_schemas.modules.vision import sequential

MODEL_TYPES = ("qwen3_omni_moe",)

_DILATIONS = 3
"""Residual units of one upsampling block."""


def talker_layer(config: ModelConfig) -> Module:
    """Every layer routes, whatever ``mlp_only_layers`` says."""
    hidden, experts = config.integer("hidden_size"), config.integer("num_experts")
    mixture = mixture_of_experts(
        hidden,
        router(hidden, experts),
        fused_experts(hidden, config.integer("moe_intermediate_size"), experts, config.integer("num_experts_per_tok")),
        extra={
            "shared_expert": shared_experts(hidden, config.integer("shared_expert_intermediate_size")),
            "shared_expert_gate": linear(hidden, 1, bias=False, part="router"),
        },
    )
    mixer = self_attention(config, bias=config.flag("attention_bias"), qk_norm="head")
    return decoder_layer(hidden, mixer, mixture)


def code_predictor(config: ModelConfig) -> Module:
    """A decoder with a token table and an output head of their own for every code but the first."""
    hidden, codes, others = (
        config.integer("hidden_size"),
        config.integer("vocab_size"),
        config.integer("num_code_groups") - 1,
    )
    bias = config.flag("attention_bias")
    blocks = layers(
        config.windows(),
        lambda window: decoder_layer(
            hidden, self_attention(config, window, bias=bias, qk_norm="head"), feed_forward(config)
        ),
    )
    model = Module(
        "Model",
        children=children(
            layers=blocks, norm=rms_norm(hidden), codec_embedding=uniform(embedding(codes, hidden), others)
        ),
    )
    return Module("CodePredictor", children=children(model=model, lm_head=uniform(lm_head(hidden, codes), others)))


def talker(config: ModelConfig) -> Module:
    text = config.nested_config("text_config")
    hidden, codes = text.integer("hidden_size"), text.integer("vocab_size")
    bridge = mlp(
        config.integer("thinker_hidden_size"),
        text.integer("intermediate_size"),
        names=("linear_fc1", "linear_fc2"),
        out=hidden,
    )
    model = Module(
        "Model",
        children=children(
            layers=uniform(talker_layer(text), text.integer("num_hidden_layers")),
            norm=rms_norm(hidden),
            codec_embedding=token_embedding(codes, hidden),
        ),
    )
    return Module(
        "Talker",
        children=children(
            model=model,
            text_projection=bridge,
            hidden_projection=bridge,
            codec_head=lm_head(hidden, codes),
            code_predictor=code_predictor(config.nested_config("code_predictor_config")),
        ),
    )


def causal_convolution(inputs: int, outputs: int, kernel: int, groups: int = 1) -> Module:
    return Module("CausalConv1d", children=children(conv=convolution(inputs, outputs, (kernel,), groups=groups)))


def upsampling(inputs: int, outputs: int, kernel: int) -> Module:
    return Module("CausalConvTranspose1d", children=children(conv=transposed_convolution(inputs, outputs, (kernel,))))


def snake(channels: int) -> Module:
    """A periodic activation with two learned vectors (arXiv:2006.08195)."""
    return Module("Snake", (Tensor("alpha", (channels,)), Tensor("beta", (channels,))))


def convnext_block(width: int) -> Module:
    return Module(
        "ConvNextBlock",
        (Tensor("gamma", (width,)),),
        children(
            dwconv=causal_convolution(width, width, 7, groups=width),
            norm=layer_norm(width),
            pwconv1=linear(width, 4 * width),
            pwconv2=linear(4 * width, width),
        ),
    )


def upsampling_block(inputs: int, outputs: int, rate: int) -> Module:
    unit = Module(
        "ResidualUnit",
        children=children(
            act1=snake(outputs),
            conv1=causal_convolution(outputs, outputs, 7),
            act2=snake(outputs),
            conv2=causal_convolution(outputs, outputs, 1),
        ),
    )
    return Module(
        "UpsamplingBlock",
        children=children(block=stack(snake(inputs), upsampling(inputs, outputs, 2 * rate), *(unit,) * _DILATIONS)),
    )


def waveform_decoder(config: ModelConfig) -> Module:
    """A windowed transformer over the codes' embeddings, then convolutions up to the sampling rate."""
    hidden, width = config.integer("hidden_size"), config.integer("decoder_dim")
    mixer = self_attention(config, config.optional_integer("sliding_window"), bias=config.flag("attention_bias"))
    layer = decoder_layer(hidden, mixer, feed_forward(config))
    scale = Module("LayerScale", (Tensor("scale", (hidden,)),))
    layer = layer.with_(
        children=(*layer.children, ("self_attn_layer_scale", scale), ("mlp_layer_scale", scale)),
    )
    transformer = Module(
        "Transformer",
        children=children(layers=uniform(layer, config.integer("num_hidden_layers")), norm=rms_norm(hidden)),
    )
    widened = [
        sequential(upsampling(hidden, hidden, factor), convnext_block(hidden))
        for factor in config.integers("upsampling_ratios")
    ]
    rates = config.integers("upsample_rates")
    blocks = [upsampling_block(width // 2**index, width // 2 ** (index + 1), rate) for index, rate in enumerate(rates)]
    last = width // 2 ** len(rates)
    steps = (causal_convolution(hidden, width, 7), *blocks, snake(last), causal_convolution(last, 1, 7))
    codes = config.integer("codebook_size") * config.integer("num_quantizers")
    return Module(
        "WaveformDecoder",
        children=children(
            pre_transformer=transformer,
            code_embedding=embedding(codes, hidden),
            upsample=stack(*widened),
            decoder=stack(*steps),
        ),
    )


def build(config: ModelConfig) -> Module:
    if head_name(config.architecture) not in ("ForConditionalGeneration", "Model"):
        raise unknown_head(config.architecture)
    parts: dict[str, Module | Stack | None] = {
        "thinker": build_nested(config, "thinker_config", "ForConditionalGeneration")
    }
    if config.flag("enable_audio_output"):
        parts["talker"] = in_part(talker(config.nested_config("talker_config")), "audio")
        parts["code2wav"] = in_part(waveform_decoder(config.nested_config("code2wav_config")), "audio")
    return Module(config.architecture, children=children(**parts))
