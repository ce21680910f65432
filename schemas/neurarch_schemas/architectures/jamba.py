"""Jamba: Mamba layers with one attention layer in every period, experts in every other layer."""

from __future__ import annotations

from neurarch_schemas.architectures.language_heads import with_language_head
from neurarch_schemas.architectures.mamba import time_step_rank
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.config.periods import every
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.attention import attention
from neurarch_schemas.modules.experts import fused_experts, router
from neurarch_schemas.modules.feed_forward import gated_mlp
from neurarch_schemas.modules.layers import rms_norm, token_embedding
from neurarch_schemas.modules.state_space import mamba_mixer
from neurarch_schemas.modules.tree import Module, children

MODEL_TYPES = ("jamba",)


def mixer(config: ModelConfig) -> Module:
    hidden = config.integer("hidden_size")
    return mamba_mixer(
        hidden,
        config.integer("mamba_expand") * hidden,
        config.integer("mamba_d_state"),
        config.integer("mamba_d_conv"),
        time_step_rank(config, "mamba_dt_rank"),
        bias=config.flag("mamba_proj_bias"),
        conv_bias=config.flag("mamba_conv_bias"),
        inner_norms=True,
    )


def feed_forward(config: ModelConfig, experts: int) -> Module:
    """A layer with one expert is a plain gated MLP."""
    hidden, intermediate = config.integer("hidden_size"), config.integer("intermediate_size")
    if experts <= 1:
        return gated_mlp(hidden, intermediate)
    active = config.integer("num_experts_per_tok")
    return Module(
        "MixtureOfExperts",
        children=children(router=router(hidden, experts), experts=fused_experts(hidden, intermediate, experts, active)),
    )


def layer(config: ModelConfig, attends: bool, experts: int) -> Module:
    hidden = config.integer("hidden_size")
    heads, kv_heads = config.integer("num_attention_heads"), config.optional_integer("num_key_value_heads")
    head_dim = config.optional_integer("head_dim")
    return Module(
        "DecoderLayer",
        children=children(
            self_attn=attention(hidden, heads, kv_heads, head_dim, position="none") if attends else None,
            mamba=None if attends else mixer(config),
            feed_forward=feed_forward(config, experts),
            input_layernorm=rms_norm(hidden),
            pre_ff_layernorm=rms_norm(hidden),
        ),
    )


def build(config: ModelConfig) -> Module:
    hidden, length = config.integer("hidden_size"), config.integer("num_hidden_layers")
    attends = every(config.integer("attn_layer_period"), config.integer("attn_layer_offset"), length, True, False)
    experts = every(
        config.integer("expert_layer_period"),
        config.integer("expert_layer_offset"),
        length,
        config.integer("num_experts"),
        1,
    )
    backbone = Module(
        "Model",
        children=children(
            embed_tokens=token_embedding(config.integer("vocab_size"), hidden),
            layers=layers(attends.zip(experts), lambda kind: layer(config, *kind)),
            final_layernorm=rms_norm(hidden),
        ),
    )
    return with_language_head(config, backbone, hidden=hidden)
