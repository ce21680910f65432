"""Text models of DeepSeek-OCR 2 and Unlimited-OCR: DeepSeek-V2's experts behind ordinary attention."""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import decoder_layer, feed_forward, language_model, self_attention
from neurarch_schemas.architectures.deepseek import moe
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.tree import Module

MODEL_TYPES = ("deepseek_ocr2_text", "unlimited_ocr_text")


def layer(config: ModelConfig, kind: object) -> Module:
    # Unlimited-OCR's window slides over generated tokens only: every token of the prompt stays in the cache.
    mixer = self_attention(config, bias=config.flag("attention_bias"))
    transform = moe(config) if kind == "sparse" else feed_forward(config, bias=config.flag("mlp_bias"))
    return decoder_layer(config.integer("hidden_size"), mixer, transform)


def build(config: ModelConfig) -> Module:
    return language_model(config, layers(config.layers("mlp_layer_types"), lambda kind: layer(config, kind)))
