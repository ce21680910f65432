"""Ling and Ring (Bailing MoE, and its second version) with the code that came with them.

Totals equal the published ones of Ling-lite (16,801,974,272) and Ling-mini 2.0 (16,255,643,392).
"""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import decoder_layer, from_layer, language_model
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.attention import fused_attention
from neurarch_schemas.modules.experts import router, shared_experts
from neurarch_schemas.modules.feed_forward import gated_mlp
from neurarch_schemas.modules.layers import rms_norm
from neurarch_schemas.modules.tree import Module, Routing, children, stack

MODEL_TYPES = ("bailing_moe",)

CLASSES = ("BailingMoeForCausalLM", "BailingMoeV2ForCausalLM")


def mixture(config: ModelConfig) -> Module:
    hidden, inner, bias = (
        config.integer("hidden_size"),
        config.integer("moe_intermediate_size"),
        config.flag("use_bias"),
    )
    total, shared = config.integer("num_experts"), config.integer("num_shared_experts", 0)
    expert = gated_mlp(hidden, inner, bias, part="experts")
    routed = expert.with_(routing=Routing(total, config.integer("num_experts_per_tok"), fused=False))
    balancing = "expert_bias" if config.flag("moe_router_enable_expert_bias") else None
    width = config.integer("moe_shared_expert_intermediate_size", inner)
    return Module(
        "MixtureOfExperts",
        children=children(
            gate=router(hidden, total, correction_bias=balancing),
            experts=stack(routed, times=total),
            shared_experts=shared_experts(hidden, width * shared, bias) if shared else None,
        ),
        part="router",
        width_in=hidden,
        width_out=hidden,
    )


def layer(config: ModelConfig, sparse: bool) -> Module:
    hidden, bias = config.integer("hidden_size"), config.flag("use_bias")
    heads = config.integer("num_attention_heads")
    dim = config.integer("head_dim", hidden // heads)
    norm = rms_norm(dim) if config.flag("use_qk_norm") else None
    mixer = fused_attention(
        hidden,
        heads,
        config.integer("num_key_value_heads", heads),
        dim,
        bias=config.flag("use_qkv_bias"),
        out_bias=bias,
        names=("query_key_value", "dense"),
        extra={"query_layernorm": norm, "key_layernorm": norm},
    )
    transform = mixture(config) if sparse else gated_mlp(hidden, config.integer("intermediate_size"), bias)
    return decoder_layer(hidden, mixer, transform, names=("attention", "mlp"))


def build(config: ModelConfig) -> Module:
    if config.architecture not in CLASSES:
        raise CannotBuild(f"the class {config.architecture} is not known", ("architectures",))
    if config.integer("num_nextn_predict_layers", 0):
        raise CannotBuild("the prediction layers of this class are not known", ("num_nextn_predict_layers",))
    if config.flag("multi_gate"):
        raise CannotBuild("gates of their own for images and sound are not known", ("multi_gate",))
    pattern = from_layer(config.integer("first_k_dense_replace", 0), config.integer("num_hidden_layers"))
    stacked = layers(pattern, lambda sparse: layer(config, sparse))
    return language_model(config, stacked, names=("word_embeddings", "layers", "norm"))
