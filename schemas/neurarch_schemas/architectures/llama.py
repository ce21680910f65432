"""Llama and the models that keep its layout: pre-norm RMSNorm, rotary grouped-query attention, gated MLP."""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import decoder_layer, feed_forward, language_model, self_attention
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.tree import Module

MODEL_TYPES = ("llama", "mistral", "qwen2", "qwen3")


def layer(config: ModelConfig, window: int | None) -> Module:
    kind = config.model_type
    if kind == "qwen2":
        # Query, key and value have a bias whatever the config says; the output has none.
        mixer = self_attention(config, window, bias=True, out_bias=False)
    elif kind == "qwen3":
        mixer = self_attention(config, window, bias=config.flag("attention_bias"), qk_norm="head")
    elif kind == "mistral":
        mixer = self_attention(config, window)
    else:
        mixer = self_attention(config, window, bias=config.flag("attention_bias"))
    transform = feed_forward(config, bias=kind == "llama" and config.flag("mlp_bias"))
    return decoder_layer(config.integer("hidden_size"), mixer, transform)


def build(config: ModelConfig) -> Module:
    # The question answering class of Llama, unlike its siblings, calls its backbone "transformer".
    answering = "transformer" if config.model_type == "llama" else "model"
    stack = layers(config.windows(), lambda window: layer(config, window))
    return language_model(config, stack, question_answering_prefix=answering)
