"""Hunyuan V4: latent attention with an output gate, sinks and a shared indexer, experts, hyper-connections."""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import feed_forward, language_model
from neurarch_schemas.architectures.deepseek import chosen_keys, indexer
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.documents.json_value import JSONScalar
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.attention import latent_attention, selecting
from neurarch_schemas.modules.experts import fused_experts, mixture_of_experts, router, shared_experts
from neurarch_schemas.modules.hyper_connections import hyper_connection, hyper_head
from neurarch_schemas.modules.layers import linear, rms_norm
from neurarch_schemas.modules.tree import Module, Tensor, children

MODEL_TYPES = ("hy_v4", "hy_v4_vl_text")


def self_attention(config: ModelConfig, indexed: JSONScalar) -> Module:
    """Layers whose indexer is "shared" use the choice of the last "full" one and cache no index keys."""
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    v_dim = config.integer("v_head_dim")
    block = latent_attention(
        hidden,
        heads,
        q_lora_rank=config.integer("q_lora_rank"),
        kv_lora_rank=config.integer("kv_lora_rank"),
        nope_dim=config.integer("qk_nope_head_dim"),
        rope_dim=config.integer("qk_rope_head_dim"),
        v_dim=v_dim,
        bias=config.flag("attention_bias"),
        extra={
            "indexer": None if indexed == "shared" else indexer(config),
            "gate_proj": linear(hidden, heads * v_dim, bias=False),
        },
    )
    block = selecting(block, chosen_keys(config, indexed != "shared"))
    return block.with_(tensors=(Tensor("sinks", (heads,)),))


def mixture(config: ModelConfig) -> Module:
    hidden, inner = config.integer("hidden_size"), config.integer("moe_intermediate_size")
    experts = config.integer("n_routed_experts")
    return mixture_of_experts(
        hidden,
        router(hidden, experts, correction_bias="e_score_correction_bias"),
        fused_experts(hidden, inner, experts, config.integer("num_experts_per_tok")),
        extra={"shared_experts": shared_experts(hidden, inner * config.integer("n_shared_experts"))},
    )


def layer(config: ModelConfig, indexed: JSONScalar, transform: JSONScalar) -> Module:
    hidden, streams = config.integer("hidden_size"), config.integer("hc_mult")
    connection = hyper_connection(hidden, streams, 2 * streams, 2)
    return Module(
        "DecoderLayer",
        children=children(
            self_attn=self_attention(config, indexed),
            mlp=mixture(config) if transform == "sparse" else feed_forward(config),
            input_layernorm=rms_norm(hidden),
            post_attention_layernorm=rms_norm(hidden),
            attn_hc=connection,
            ffn_hc=connection,
        ),
    )


def build(config: ModelConfig) -> Module:
    hidden = config.integer("hidden_size")
    pattern = config.layers("indexer_types").zip(config.layers("mlp_layer_types"))
    return language_model(
        config,
        layers(pattern, lambda kind: layer(config, *kind)),
        after={"hc_head": hyper_head(hidden, config.integer("hc_mult"))},
    )
