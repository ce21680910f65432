"""Mellum and MiMo-V2-Flash: ``layer_types`` and ``mlp_layer_types`` choose windows and experts layer by layer."""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import (
    decoder_layer,
    feed_forward,
    head_dim,
    language_model,
    self_attention,
)
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.attention import attention
from neurarch_schemas.modules.experts import fused_experts, mixture_of_experts, router
from neurarch_schemas.modules.tree import Module, Tensor

MODEL_TYPES = ("mellum", "mimo_v2_flash")


def mimo_attention(config: ModelConfig, kind: object) -> Module:
    """Windowed layers have twice the KV heads, and attention sinks; values are narrower than keys."""
    heads, kv_heads = config.integer("num_attention_heads"), config.integer("num_key_value_heads")
    sliding = kind == "sliding_attention"
    block = attention(
        config.integer("hidden_size"),
        heads,
        2 * kv_heads if sliding else kv_heads,
        head_dim(config),
        v_dim=config.integer("v_head_dim"),
        bias=config.flag("attention_bias"),
        out_bias=False,
        window=config.optional_integer("sliding_window") if sliding else None,
        position="partial rope",
    )
    return block.with_(tensors=(Tensor("sinks", (heads,)),)) if sliding else block


def layer(config: ModelConfig, attention_kind: object, feed_forward_kind: object) -> Module:
    hidden, mimo = config.integer("hidden_size"), config.model_type == "mimo_v2_flash"
    if mimo:
        mixer = mimo_attention(config, attention_kind)
    else:
        window = config.optional_integer("sliding_window") if attention_kind == "sliding_attention" else None
        mixer = self_attention(config, window, bias=config.flag("attention_bias"), qk_norm="head")
    if feed_forward_kind == "sparse":
        experts = config.integer("n_routed_experts" if mimo else "num_local_experts")
        inner, active = config.integer("moe_intermediate_size"), config.integer("num_experts_per_tok")
        transform = mixture_of_experts(
            hidden,
            router(hidden, experts, correction_bias="e_score_correction_bias" if mimo else None),
            fused_experts(hidden, inner, experts, active),
        )
    else:
        transform = feed_forward(config)
    return decoder_layer(hidden, mixer, transform)


def build(config: ModelConfig) -> Module:
    pattern = config.layers("layer_types").zip(config.layers("mlp_layer_types"))
    return language_model(config, layers(pattern, lambda kind: layer(config, *kind)))
