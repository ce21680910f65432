"""DeepSeek-V3: multi-head latent attention, dense first layers, then experts with shared ones and a balancing bias."""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import decoder_layer, feed_forward, from_layer, language_model
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.attention import latent_attention
from neurarch_schemas.modules.experts import fused_experts, mixture_of_experts, router, shared_experts
from neurarch_schemas.modules.tree import Module

MODEL_TYPES = ("deepseek_v3",)


def self_attention(config: ModelConfig) -> Module:
    return latent_attention(
        config.integer("hidden_size"),
        config.integer("num_attention_heads"),
        q_lora_rank=config.optional_integer("q_lora_rank"),
        kv_lora_rank=config.integer("kv_lora_rank"),
        nope_dim=config.integer("qk_nope_head_dim"),
        rope_dim=config.integer("qk_rope_head_dim"),
        v_dim=config.integer("v_head_dim"),
        bias=config.flag("attention_bias"),
    )


def moe(config: ModelConfig) -> Module:
    hidden = config.integer("hidden_size")
    inner = config.integer("moe_intermediate_size")
    experts = config.integer("n_routed_experts")
    return mixture_of_experts(
        hidden,
        router(hidden, experts, correction_bias="e_score_correction_bias"),
        fused_experts(hidden, inner, experts, config.integer("num_experts_per_tok")),
        extra={"shared_experts": shared_experts(hidden, inner * config.integer("n_shared_experts"))},
    )


def layer(config: ModelConfig, sparse: bool) -> Module:
    transform = moe(config) if sparse else feed_forward(config)
    return decoder_layer(config.integer("hidden_size"), self_attention(config), transform)


def build(config: ModelConfig) -> Module:
    pattern = from_layer(config.integer("first_k_dense_replace"), config.integer("num_hidden_layers"))
    return language_model(config, layers(pattern, lambda sparse: layer(config, sparse)))
