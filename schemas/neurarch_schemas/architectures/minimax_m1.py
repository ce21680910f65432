"""MiniMax-Text-01 and M1 as published, with the code that came with them.

As the transformers class "minimax", but experts are modules of their own and the decay of lightning attention is
computed, not stored. The total equals the published 456,089,655,296.
"""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import decoder_layer, language_model
from neurarch_schemas.architectures.minimax import lightning_attention
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.layer_pattern import LayerPattern
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.attention import attention
from neurarch_schemas.modules.experts import router
from neurarch_schemas.modules.feed_forward import gated_mlp
from neurarch_schemas.modules.tree import Module, Routing, children, stack

MODEL_TYPES = ("minimax_m1", "minimax_text_01")


def experts(config: ModelConfig, hidden: int) -> Module:
    total, active = config.integer("num_local_experts"), config.integer("num_experts_per_tok")
    expert = gated_mlp(hidden, config.integer("intermediate_size"), names=("w1", "w3", "w2"), part="experts")
    routed = expert.with_(routing=Routing(total, active, fused=False))
    parts = children(gate=router(hidden, total), experts=stack(routed, times=total))
    return Module("MixtureOfExperts", children=parts, part="router", width_in=hidden, width_out=hidden)


def build(config: ModelConfig) -> Module:
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    dim = config.integer("head_dim", hidden // heads)
    if config.integer("shared_intermediate_size", 0):
        raise CannotBuild("shared experts of this class are not known", ("shared_intermediate_size",))
    pattern = LayerPattern.of(config.integers("attn_type_list"))
    if pattern.length != config.integer("num_hidden_layers"):
        raise CannotBuild("attn_type_list and num_hidden_layers disagree", ("attn_type_list", "num_hidden_layers"))

    def layer(kind: int) -> Module:
        mixer = (
            attention(hidden, heads, config.optional_integer("num_key_value_heads"), dim, position="partial rope")
            if kind
            else lightning_attention(hidden, heads, dim)
        )
        return decoder_layer(hidden, mixer, experts(config, hidden), names=("self_attn", "block_sparse_moe"))

    return language_model(config, layers(pattern, layer))
