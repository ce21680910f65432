"""Kimi Linear and Bailing Hybrid (Ling 2.5): delta attention layers with latent attention in between, experts.

The output head is never tied: both classes declare no tied weights.
"""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import decoder_layer, feed_forward, language_model
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.documents.json_value import JSONScalar
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.attention import latent_attention
from neurarch_schemas.modules.experts import fused_experts, mixture_of_experts, router, shared_experts
from neurarch_schemas.modules.layers import linear
from neurarch_schemas.modules.linear_attention import kimi_delta_attention
from neurarch_schemas.modules.tree import Module, Tensor, children

MODEL_TYPES = ("kimi_linear", "bailing_hybrid")


def delta_attention(config: ModelConfig) -> Module:
    hidden, heads = config.integer("hidden_size"), config.integer("linear_num_heads")
    dim, kernel = config.integer("linear_head_dim"), config.integer("linear_conv_kernel_dim")
    width = heads * dim
    if config.model_type == "kimi_linear":
        forget_gate = Module(
            "ForgetGate",
            (Tensor("dt_bias", (width,)), Tensor("A_log", (1, 1, heads, 1))),
            children(f_a_proj=linear(hidden, dim, bias=False), f_b_proj=linear(dim, width, bias=False)),
        )
        gate = {"g_a_proj": linear(hidden, dim, bias=False), "g_b_proj": linear(dim, width, bias=False)}
    else:
        forget_gate = Module(
            "ForgetGate",
            (Tensor("A_log", (heads,)), Tensor("dt_bias", (width,))),
            children(f_proj=linear(hidden, width, bias=False)),
        )
        gate = {"g_proj": linear(hidden, width, bias=False)}
    return kimi_delta_attention(hidden, heads, dim, kernel, forget_gate=forget_gate, output_gate={**gate})


def full_attention(config: ModelConfig) -> Module:
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    gate = linear(hidden, heads, bias=False) if config.model_type == "bailing_hybrid" else None
    return latent_attention(
        hidden,
        heads,
        q_lora_rank=config.optional_integer("q_lora_rank"),
        kv_lora_rank=config.integer("kv_lora_rank"),
        nope_dim=config.integer("qk_nope_head_dim"),
        rope_dim=config.integer("qk_rope_head_dim"),
        v_dim=config.integer("v_head_dim"),
        bias=config.flag("attention_bias"),
        extra={"g_proj": gate},
        # Kimi Linear leaves positions to its delta attention (arXiv:2510.26692, section 4).
        position="none" if config.model_type == "kimi_linear" else "rope",
    )


def mixture(config: ModelConfig) -> Module:
    hidden, inner = config.integer("hidden_size"), config.integer("moe_intermediate_size")
    experts = config.integer("num_experts")
    return mixture_of_experts(
        hidden,
        router(hidden, experts, correction_bias="e_score_correction_bias"),
        fused_experts(hidden, inner, experts, config.integer("num_experts_per_token")),
        extra={"shared_experts": shared_experts(hidden, inner * config.integer("num_shared_experts"))},
    )


def layer(config: ModelConfig, mixer: JSONScalar, transform: JSONScalar) -> Module:
    return decoder_layer(
        config.integer("hidden_size"),
        full_attention(config) if mixer == "full_attention" else delta_attention(config),
        mixture(config) if transform == "sparse" else feed_forward(config),
    )


def build(config: ModelConfig) -> Module:
    pattern = config.layers("layer_types").zip(config.layers("mlp_layer_types"))
    return language_model(config, layers(pattern, lambda kind: layer(config, *kind)), tied=False)
