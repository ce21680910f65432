"""Hunyuan MoE (v1): every layer a mixture of experts beside a shared feed-forward block, QK norms over each head."""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import decoder_layer, language_model, self_attention
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.experts import fused_experts, mixture_of_experts, shared_experts
from neurarch_schemas.modules.layers import linear
from neurarch_schemas.modules.tree import Module, children

MODEL_TYPES = ("hunyuan_v1_moe",)


def layer(config: ModelConfig, window: int | None) -> Module:
    hidden, inner = config.integer("hidden_size"), config.integer("intermediate_size")
    experts = config.integer("num_experts")
    mixer = self_attention(
        config,
        window,
        bias=config.flag("attention_bias"),
        qk_norm="head",
        norm_names=("query_layernorm", "key_layernorm"),
    )
    moe = mixture_of_experts(
        hidden,
        Module("Router", children=children(wg=linear(hidden, experts, bias=False)), part="router"),
        fused_experts(hidden, inner, experts, config.integer("moe_topk")),
        extra={"shared_mlp": shared_experts(hidden, inner)},
    )
    return decoder_layer(hidden, mixer, moe)


def build(config: ModelConfig) -> Module:
    return language_model(config, layers(config.windows(), lambda window: layer(config, window)))
