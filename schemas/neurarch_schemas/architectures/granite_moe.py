"""Granite MoE: every layer a mixture of experts, with an optional shared feed-forward block beside it."""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import decoder_layer, language_model, self_attention
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.experts import fused_experts, mixture_of_experts, router
from neurarch_schemas.modules.feed_forward import fused_gated_mlp
from neurarch_schemas.modules.tree import Module, Tensor

MODEL_TYPES = ("granitemoe", "granitemoeshared", "granitemoe_swa")


def layer(config: ModelConfig, window: int | None) -> Module:
    hidden, experts = config.integer("hidden_size"), config.integer("num_local_experts")
    mixer = self_attention(config, window, bias=config.flag("attention_bias"))
    if config.model_type == "granitemoe_swa":
        mixer = mixer.with_(tensors=(Tensor("sinks", (config.integer("num_attention_heads"),)),))
    moe = mixture_of_experts(
        hidden,
        router(hidden, experts),
        fused_experts(hidden, config.integer("intermediate_size"), experts, config.integer("num_experts_per_tok")),
        names=("router", "experts"),
    )
    block = decoder_layer(hidden, mixer, moe, names=("self_attn", "block_sparse_moe"))
    shared = 0 if config.model_type == "granitemoe" else config.integer("shared_intermediate_size", 0)
    if not shared:
        return block
    beside = fused_gated_mlp(hidden, shared, names=("input_linear", "output_linear"), part="shared experts")
    return block.with_(children=(*block.children, ("shared_mlp", beside)))


def build(config: ModelConfig) -> Module:
    return language_model(config, layers(config.windows(), lambda window: layer(config, window)))
