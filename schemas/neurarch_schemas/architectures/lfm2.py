"""LFM2 (dense and with experts) and LFM3: gated short convolutions with attention in between."""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import from_layer
from neurarch_schemas.architectures.language_heads import with_language_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.documents.json_value import JSONScalar
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.attention import attention
from neurarch_schemas.modules.experts import fused_experts, mixture_of_experts, router
from neurarch_schemas.modules.feed_forward import gated_mlp
from neurarch_schemas.modules.layers import linear, rms_norm, token_embedding
from neurarch_schemas.modules.state_space import short_convolution
from neurarch_schemas.modules.tree import Module, children

MODEL_TYPES = ("lfm2", "lfm2_moe", "lfm3")

_MLP_NAMES = ("w1", "w3", "w2")


def feed_forward_width(config: ModelConfig) -> int:
    """LFM2 shrinks the declared width to two thirds and rounds up to a block size; LFM3 takes it as it is."""
    width = config.integer("intermediate_size")
    if config.model_type != "lfm2" or not config.flag("block_auto_adjust_ff_dim"):
        return width
    width = 2 * width // 3
    if config.is_set("block_ffn_dim_multiplier"):
        block = config.integer("block_multiple_of")
        width = block * -(-int(config.number("block_ffn_dim_multiplier") * width) // block)
    return width


def self_attention(config: ModelConfig, kind: JSONScalar) -> Module:
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    kv_heads = config.optional_integer("num_key_value_heads")
    head_dim = config.optional_integer("head_dim")
    dim = hidden // heads if head_dim is None else head_dim
    if config.model_type != "lfm3":
        return attention(
            hidden,
            heads,
            kv_heads,
            head_dim,
            names=("q_proj", "k_proj", "v_proj", "out_proj"),
            extra={"q_layernorm": rms_norm(dim), "k_layernorm": rms_norm(dim)},
            qk_norm=True,
        )
    gate = linear(hidden, heads, bias=False) if config.flag("use_attention_gate") else None
    return attention(
        hidden,
        heads,
        kv_heads,
        head_dim,
        bias=config.flag("attention_bias"),
        extra={"q_norm": rms_norm(dim), "k_norm": rms_norm(dim), "g_proj": gate},
        window=config.optional_integer("sliding_window") if kind == "sliding_attention" else None,
        qk_norm=True,
    )


def moe(config: ModelConfig) -> Module:
    hidden, experts = config.integer("hidden_size"), config.integer("num_experts")
    return mixture_of_experts(
        hidden,
        router(hidden, experts),
        fused_experts(hidden, config.integer("moe_intermediate_size"), experts, config.integer("num_experts_per_tok")),
        correction_bias="expert_bias" if config.flag("use_expert_bias") else None,
    )


def layer(config: ModelConfig, kind: JSONScalar, sparse: bool) -> Module:
    hidden = config.integer("hidden_size")
    sandwich = config.model_type == "lfm3" and config.flag("use_sandwich_norm")
    convolution = short_convolution(hidden, config.integer("conv_L_cache"), bias=config.flag("conv_bias"))
    return Module(
        "DecoderLayer",
        children=children(
            self_attn=None if kind == "conv" else self_attention(config, kind),
            conv=convolution if kind == "conv" else None,
            feed_forward=moe(config) if sparse else gated_mlp(hidden, feed_forward_width(config), names=_MLP_NAMES),
            operator_norm=rms_norm(hidden),
            ffn_norm=rms_norm(hidden),
            post_operator_norm=rms_norm(hidden) if sandwich else None,
            post_ffn_norm=rms_norm(hidden) if sandwich else None,
        ),
    )


def build(config: ModelConfig) -> Module:
    hidden, kinds = config.integer("hidden_size"), config.layers("layer_types")
    dense = config.integer("num_dense_layers") if config.model_type == "lfm2_moe" else kinds.length
    backbone = Module(
        "Model",
        children=children(
            embed_tokens=token_embedding(config.integer("vocab_size"), hidden),
            layers=layers(kinds.zip(from_layer(dense, kinds.length)), lambda kind: layer(config, *kind)),
            embedding_norm=rms_norm(hidden),
        ),
    )
    return with_language_head(config, backbone, hidden=hidden)
