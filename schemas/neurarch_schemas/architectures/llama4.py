"""Llama 4 (text): chunked attention with rotary positions, full attention without, experts in every n-th layer."""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import language_model, self_attention
from neurarch_schemas.config.layer_pattern import LayerPattern
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.config.periods import at, every
from neurarch_schemas.documents.json_value import JSONScalar
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.experts import fused_experts, mixture_of_experts, router
from neurarch_schemas.modules.feed_forward import gated_mlp
from neurarch_schemas.modules.layers import rms_norm
from neurarch_schemas.modules.tree import Module, children

MODEL_TYPES = ("llama4_text",)


def sparse_layers(config: ModelConfig) -> LayerPattern[bool]:
    length = config.integer("num_hidden_layers")
    if isinstance(config.get("moe_layers"), list):
        return at(config.integers("moe_layers"), length, True, False)
    step = config.integer("interleave_moe_layer_step")
    return every(step, step - 1, length, True, False)


def mixture(config: ModelConfig) -> Module:
    """Experts are stored input first; a shared expert of the same size works on every token."""
    hidden, inner = config.integer("hidden_size"), config.integer("intermediate_size")
    experts, active = config.integer("num_local_experts"), config.integer("num_experts_per_tok")
    return mixture_of_experts(
        hidden,
        router(hidden, experts),
        fused_experts(hidden, inner, experts, active, transposed=True),
        names=("router", "experts"),
        extra={"shared_expert": gated_mlp(hidden, inner, part="shared experts")},
    )


def layer(config: ModelConfig, kind: JSONScalar, sparse: bool) -> Module:
    hidden = config.integer("hidden_size")
    chunked = kind == "chunked_attention"
    return Module(
        "DecoderLayer",
        children=children(
            self_attn=self_attention(
                config,
                config.integer("attention_chunk_size") if chunked else None,
                bias=config.flag("attention_bias"),
                kind="chunked" if chunked else "full",
                position="rope" if chunked else "none",
            ),
            feed_forward=mixture(config) if sparse else gated_mlp(hidden, config.integer("intermediate_size_mlp")),
            input_layernorm=rms_norm(hidden),
            post_attention_layernorm=rms_norm(hidden),
        ),
    )


def build(config: ModelConfig) -> Module:
    pattern = config.layers("layer_types").zip(sparse_layers(config))
    return language_model(config, layers(pattern, lambda kind: layer(config, *kind)))
