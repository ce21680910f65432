"""GLM-4.5 and its relatives: grouped-query attention, dense first layers, then experts with a balancing bias."""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import (
    decoder_layer,
    feed_forward,
    from_layer,
    language_model,
    self_attention,
)
from neurarch_schemas.config.layer_pattern import LayerPattern
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.experts import fused_experts, mixture_of_experts, router, shared_experts
from neurarch_schemas.modules.tree import Module

MODEL_TYPES = ("glm4_moe", "glm4v_moe_text", "dots1", "sarvam_moe", "solar_open", "exaone_moe", "hy_v3")


def moe(config: ModelConfig) -> Module:
    hidden, inner = config.integer("hidden_size"), config.integer("moe_intermediate_size")
    kind = config.model_type
    counted = ("num_experts", "num_shared_experts") if kind in ("exaone_moe", "hy_v3") else None
    experts_key, shared_key = counted or ("n_routed_experts", "n_shared_experts")
    experts = config.integer(experts_key)
    bias = kind == "hy_v3" and config.flag("mlp_bias")
    shared = inner * config.integer(shared_key)
    if kind == "hy_v3":  # whose feed-forward takes no width for the dense one
        shared = shared or config.integer("intermediate_size")
    # Hunyuan 3 keeps the balancing bias beside the router instead of in it.
    beside = "e_score_correction_bias" if kind == "hy_v3" else None
    return mixture_of_experts(
        hidden,
        router(hidden, experts, correction_bias=None if beside else "e_score_correction_bias"),
        fused_experts(hidden, inner, experts, config.integer("num_experts_per_tok", 0)),
        extra={"shared_experts": shared_experts(hidden, shared, bias)},
        correction_bias=beside,
    )


def layer(config: ModelConfig, window: int | None, sparse: bool) -> Module:
    kind = config.model_type
    if kind == "exaone_moe":
        mixer = self_attention(config, window, qk_norm="head")
    elif kind in ("hy_v3", "dots1"):
        mixer = self_attention(config, window, bias=config.flag("attention_bias"), qk_norm="head")
    else:
        normalized = kind not in ("solar_open", "glm4v_moe_text") and config.flag("use_qk_norm")
        mixer = self_attention(
            config,
            window,
            bias=config.flag("attention_bias"),
            out_bias=False,
            qk_norm="head" if normalized else None,
            position="rope" if kind == "solar_open" else "partial rope",
        )
    bias = kind == "hy_v3" and config.flag("mlp_bias")
    transform = moe(config) if sparse else feed_forward(config, bias=bias)
    return decoder_layer(config.integer("hidden_size"), mixer, transform)


def sparse_layers(config: ModelConfig) -> LayerPattern[bool]:
    length = config.integer("num_hidden_layers")
    if config.model_type == "solar_open":
        return LayerPattern.constant(True, length)
    if config.model_type in ("exaone_moe", "hy_v3"):
        return config.layers("mlp_layer_types").map(lambda kind: kind == "sparse")
    return from_layer(config.integer("first_k_dense_replace"), length)


def build(config: ModelConfig) -> Module:
    pattern = config.windows().zip(sparse_layers(config))
    return language_model(config, layers(pattern, lambda kind: layer(config, *kind)))
