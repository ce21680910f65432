"""Fun-ASR-Nano: an encoder whose attention has a memory convolution over values, an adaptor, a language model."""

from __future__ import annotations

from neurarch_schemas.architectures.composite import projector, text_model, tower, with_output_head
from neurarch_schemas.config.layer_pattern import LayerPattern
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import layers, uniform
from neurarch_schemas.modules.attention import attention_block
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import convolution, layer_norm, linear
from neurarch_schemas.modules.tree import AttentionShape, Module, Stack, children

MODEL_TYPES = ("fun_asr_nano", "fun_asr_nano_encoder")


def encoder_layer(
    config: ModelConfig, inputs: int | None = None, *, memory: bool = False, last: bool = False
) -> Module:
    """``inputs`` is the width of what comes in, ``memory`` the convolution, ``last`` a norm at the end."""
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    source = inputs or hidden
    convolved = None
    if memory:
        kernel = convolution(hidden, hidden, (config.integer("fsmn_kernel_size"),), bias=False, groups=hidden)
        convolved = Module("Memory", children=children(conv=kernel))
    mixer = attention_block(
        {
            **dict.fromkeys(("q_proj", "k_proj", "v_proj"), linear(source, hidden)),
            "o_proj": linear(hidden, hidden),
            "fsmn": convolved,
        },
        AttentionShape(heads, heads, hidden // heads, hidden // heads, "encoder", causal=False, position="sinusoidal"),
        hidden=hidden,
        caches=(),
    )
    return Module(
        "EncoderLayer",
        children=children(
            self_attn=mixer,
            mlp=mlp(hidden, config.integer("intermediate_size")),
            input_layernorm=layer_norm(source),
            post_attention_layernorm=layer_norm(hidden),
            final_layernorm=layer_norm(hidden) if last else None,
        ),
    )


def audio_encoder(config: ModelConfig) -> Module:
    """Layers for transcription, then ``num_timestamp_prediction_layers`` more; either part ends in a norm."""
    count = config.integer("num_hidden_layers")
    pattern: LayerPattern[tuple[bool, bool]] = LayerPattern.constant((False, False), count)
    for place in {count - config.integer("num_timestamp_prediction_layers") - 1, count - 1}:
        if 0 <= place < count:
            pattern = pattern.with_item(place, (False, True))
    if count:
        pattern = pattern.with_item(0, (True, pattern[0][1]))
    stacked = config.integer("num_mel_bins") * config.integer("num_stacked_frames")

    def build_layer(kind: tuple[bool, bool]) -> Module:
        first, last = kind
        return encoder_layer(config, stacked if first else None, memory=True, last=last)

    return Module("AudioModel", children=children(layers=layers(pattern, build_layer)))


def build(config: ModelConfig) -> Module:
    if config.model_type == "fun_asr_nano_encoder":
        return audio_encoder(config)
    adaptor, inner = config.nested_config("adaptor_config"), "projector_hidden_size"
    features = config.nested_config("audio_config").integer("hidden_size")
    bridge = projector(
        {
            "linear_1": linear(features, adaptor.integer(inner)),
            "linear_2": linear(adaptor.integer(inner), adaptor.integer("hidden_size")),
            "layers": uniform(encoder_layer(adaptor), adaptor.integer("num_hidden_layers")),
        }
    )
    parts: dict[str, Module | Stack | None] = {
        "audio_tower": tower(config, "audio_config", "audio"),
        "language_model": text_model(config),
        "multi_modal_projector": bridge,
    }
    return with_output_head(config, parts)
