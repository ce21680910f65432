"""ERNIE 4.5 MoE: sparse layers every ``moe_layer_interval`` between a start and an end index."""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import (
    decoder_layer,
    feed_forward,
    language_model,
    self_attention,
)
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.layer_pattern import LayerPattern
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.config.periods import every
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.experts import fused_experts, mixture_of_experts, router, shared_experts
from neurarch_schemas.modules.tree import Module, Tensor, children

MODEL_TYPES = ("ernie4_5_moe", "ernie4_5_vl_moe_text")


def routed(hidden: int, inner: int, experts: int, active: int, shared: Module | None = None) -> Module:
    gate = router(hidden, experts)
    # The balancing bias is a parameter that is not trained, not a buffer.
    statics = Module("Statics", (Tensor("e_score_correction_bias", (1, experts)),))
    return mixture_of_experts(
        hidden,
        gate.with_(children=(("moe_statics", statics),)),
        fused_experts(hidden, inner, experts, active),
        extra={"shared_experts": shared},
    )


def moe(config: ModelConfig) -> Module:
    hidden, experts, active = (config.integer(key) for key in ("hidden_size", "moe_num_experts", "moe_k"))
    sizes = config.integers("moe_intermediate_size")
    inner = sizes[0] * config.integer("moe_num_shared_experts")
    shared = shared_experts(hidden, inner, config.flag("use_bias")) if inner else None
    if config.model_type == "ernie4_5_moe":
        return routed(hidden, config.integer("moe_intermediate_size"), experts, active, shared)
    if len(sizes) < len(("text", "vision")):
        raise CannotBuild("moe_intermediate_size must give sizes for text and for vision", ("moe_intermediate_size",))
    # Image tokens have experts of their own, none of which work on a text token.
    return Module(
        "MixtureOfExperts",
        children=children(
            text_moe=routed(hidden, sizes[0], experts, active),
            vision_moe=routed(hidden, sizes[1], experts, 0),
            shared_experts=shared,
        ),
        width_in=hidden,
        width_out=hidden,
    )


def layer(config: ModelConfig, window: int | None, sparse: bool) -> Module:
    bias = config.flag("use_bias")
    transform = moe(config) if sparse else feed_forward(config, bias=bias)
    return decoder_layer(config.integer("hidden_size"), self_attention(config, window, bias=bias), transform)


def sparse_layers(config: ModelConfig) -> LayerPattern[bool]:
    if config.model_type == "ernie4_5_vl_moe_text":
        return config.layers("mlp_layer_types").map(lambda kind: kind == "sparse")
    length = config.integer("num_hidden_layers")
    interval = config.integer("moe_layer_interval")
    pattern = every(interval, interval - 1, length, True, False)
    first = min(config.integer("moe_layer_start_index"), length)
    last = config.get("moe_layer_end_index")
    # -1 is the last layer; the index itself is still sparse.
    end = length if last in (None, -1) else min(config.integer("moe_layer_end_index") + 1, length)
    if end <= first:
        return LayerPattern.constant(False, length)
    dense = LayerPattern.constant(False, first)
    return dense + pattern.head(end).tail(first) + LayerPattern.constant(False, length - end)


def build(config: ModelConfig) -> Module:
    pattern = config.windows().zip(sparse_layers(config))
    stack = layers(pattern, lambda kind: layer(config, *kind))
    return language_model(config, stack, head_bias=config.flag("use_bias"))
