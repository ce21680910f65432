"""GLM 4 (dense) and text models on it: fused gate and up matrices; all but the first with norms behind each block."""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import PRE_NORM, decoder_layer, language_model, self_attention
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.feed_forward import fused_gated_mlp
from neurarch_schemas.modules.tree import Module

MODEL_TYPES = ("glm", "glm4", "glm4v_text", "glm_image_text", "glm_ocr_text")


def layer(config: ModelConfig, window: int | None) -> Module:
    hidden, kind = config.integer("hidden_size"), config.model_type
    # The text model of GLM-4.1V has biases in any case, that of GLM-OCR never.
    fixed = {"glm4v_text": True, "glm_ocr_text": False}
    bias = fixed[kind] if kind in fixed else config.flag("attention_bias")
    mixer = self_attention(
        config, window, bias=bias, out_bias=False, divided=kind == "glm4v_text", position="partial rope"
    )
    norms: tuple[str, ...] = PRE_NORM
    if kind != "glm":
        norms = (*PRE_NORM, "post_self_attn_layernorm", "post_mlp_layernorm")
    return decoder_layer(hidden, mixer, fused_gated_mlp(hidden, config.integer("intermediate_size")), norms=norms)


def build(config: ModelConfig) -> Module:
    return language_model(config, layers(config.windows(), lambda window: layer(config, window)))
