"""Inkling (text): attention with learned relative logits and short convolutions on keys, values and both block outputs.

The output head is never tied: the class declares no tied weights.
"""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import language_model
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.documents.json_value import JSONScalar
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.attention import attention
from neurarch_schemas.modules.experts import fused_experts, mixture_of_experts
from neurarch_schemas.modules.feed_forward import gated_mlp
from neurarch_schemas.modules.layers import linear, rms_norm, token_embedding
from neurarch_schemas.modules.state_space import cached_convolution
from neurarch_schemas.modules.tree import Module, Stack, Tensor, children

MODEL_TYPES = ("inkling_text",)


def self_attention(config: ModelConfig, sliding: bool) -> Module:
    prefix = "swa_" if sliding else ""
    hidden, kernel = config.integer("hidden_size"), config.integer("conv_kernel_size")
    heads, kv_heads = (
        config.integer(f"{prefix}num_attention_heads"),
        config.integer(f"{prefix}num_key_value_heads"),
    )
    dim, rank = config.integer(f"{prefix}head_dim"), config.integer("d_rel")
    window = config.integer("sliding_window_size")
    extent = window if sliding else config.integer("rel_extent")
    convolution = cached_convolution(kv_heads * dim, kernel)
    return attention(
        hidden,
        heads,
        kv_heads,
        dim,
        extra={
            "r_proj": linear(hidden, heads * rank, bias=False),
            "k_sconv": convolution,
            "v_sconv": convolution,
            "q_norm": rms_norm(dim),
            "k_norm": rms_norm(dim),
            "rel_logits_proj": Module("RelativeLogits", (Tensor("proj", (rank, extent)),)),
        },
        window=window if sliding else None,
        position="relative",
        qk_norm=True,
    )


def mixture(config: ModelConfig) -> Module:
    """The router scores shared experts too; these are stored like routed ones, in three tensors."""
    hidden, inner = config.integer("hidden_size"), config.integer("moe_intermediate_size")
    experts, shared = config.integer("n_routed_experts"), config.integer("n_shared_experts")
    gate = Module(
        "Router",
        (
            Tensor("weight", (experts + shared, hidden)),
            Tensor("global_scale", (1,)),
            Tensor("e_score_correction_bias", (experts,), "buffer"),
        ),
        part="router",
        multiply_accumulates=(experts + shared) * hidden,
    )
    always = Module(
        "SharedExperts",
        (
            Tensor("gate_proj", (shared, inner, hidden)),
            Tensor("up_proj", (shared, inner, hidden)),
            Tensor("down_proj", (shared, hidden, inner)),
        ),
        part="shared experts",
        multiply_accumulates=3 * shared * inner * hidden,
    )
    routed = fused_experts(hidden, inner, experts, config.integer("num_experts_per_tok"))
    return mixture_of_experts(hidden, gate, routed, extra={"shared_experts": always})


def scaled_mlp(config: ModelConfig) -> Module:
    dense = gated_mlp(config.integer("hidden_size"), config.integer("intermediate_size"))
    return dense.with_(tensors=(Tensor("global_scale", (1,)),))


def normed_embedding(vocabulary: int, hidden: int) -> Module:
    return token_embedding(vocabulary, hidden).with_(children=children(embed_norm=rms_norm(hidden)))


def layer(config: ModelConfig, kind: JSONScalar, transform: JSONScalar) -> Module:
    hidden = config.integer("hidden_size")
    convolution = cached_convolution(hidden, config.integer("conv_kernel_size"))
    return Module(
        "DecoderLayer",
        children=children(
            self_attn=self_attention(config, kind == "hybrid_sliding"),
            mlp=mixture(config) if transform == "sparse" else scaled_mlp(config),
            input_layernorm=rms_norm(hidden),
            post_attention_layernorm=rms_norm(hidden),
            attn_sconv=convolution,
            mlp_sconv=convolution,
        ),
    )


def build(config: ModelConfig) -> Module:
    pattern = config.layers("layer_types").zip(config.layers("mlp_layer_types"))
    blocks = layers(pattern, lambda kind: layer(config, *kind))
    return normed_language_model(config, blocks, vocabulary=None)


def normed_language_model(
    config: ModelConfig,
    blocks: Stack,
    *,
    vocabulary: int | None,
    after: dict[str, Module | Stack | None] | None = None,
) -> Module:
    """As ``language_model``, with a norm behind the embedding and an output head of its own."""
    hidden = config.integer("hidden_size")
    return language_model(
        config,
        blocks,
        before={"embed_tokens": normed_embedding(config.integer("vocab_size"), hidden)},
        after=after,
        tied=False,
        vocabulary=vocabulary,
    )
