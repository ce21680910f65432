"""Bamba, Falcon-H1 and Granite 4: Mamba 2 mixers beside or between attention layers."""

from __future__ import annotations

from neurarch_schemas.architectures.language_heads import with_language_head
from neurarch_schemas.config.layer_pattern import LayerPattern
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.config.periods import at, constant
from neurarch_schemas.documents.json_value import JSONScalar
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.attention import attention
from neurarch_schemas.modules.experts import fused_experts, router
from neurarch_schemas.modules.feed_forward import fused_gated_mlp, gated_mlp
from neurarch_schemas.modules.layers import rms_norm, token_embedding
from neurarch_schemas.modules.state_space import mamba2_mixer
from neurarch_schemas.modules.tree import Module, children

MODEL_TYPES = ("bamba", "falcon_h1", "granitemoehybrid")


def mixer(config: ModelConfig) -> Module:
    hidden, heads = config.integer("hidden_size"), config.integer("mamba_n_heads")
    falcon = config.model_type == "falcon_h1"
    # Falcon-H1 may state the inner width (mamba_d_ssm) instead of the factor.
    inner = config.optional_integer("mamba_d_ssm") if falcon else None
    if inner is None:
        inner = int(config.number("mamba_expand") * hidden)
    head_dim = inner // heads if config.get("mamba_d_head") in (None, "auto") else config.integer("mamba_d_head")
    return mamba2_mixer(
        hidden,
        inner,
        heads,
        head_dim,
        config.integer("mamba_n_groups"),
        config.integer("mamba_d_state"),
        config.integer("mamba_d_conv"),
        bias=config.flag("mamba_proj_bias"),
        conv_bias=config.flag("mamba_conv_bias"),
        out_bias=config.flag("projectors_bias") if falcon else None,
        norm=config.flag("mamba_rms_norm") if falcon else True,
    )


def grouped_query_attention(config: ModelConfig) -> Module:
    position = "rope"
    if config.model_type == "bamba":
        position = "partial rope"
    elif config.model_type == "granitemoehybrid" and config.get("position_embedding_type") != "rope":
        position = "none"
    return attention(
        config.integer("hidden_size"),
        config.integer("num_attention_heads"),
        config.optional_integer("num_key_value_heads"),
        config.optional_integer("head_dim"),
        bias=config.flag("attention_bias"),
        position=position,
    )


def layer(config: ModelConfig, kind: JSONScalar) -> Module:
    """``kind`` is "linear_attention" (Mamba), "full_attention", or "hybrid": both on the same input."""
    hidden = config.integer("hidden_size")
    return Module(
        "DecoderLayer",
        children=children(
            feed_forward=gated_mlp(hidden, config.integer("intermediate_size"), config.flag("mlp_bias")),
            mamba=None if kind == "full_attention" else mixer(config),
            self_attn=None if kind == "linear_attention" else grouped_query_attention(config),
            input_layernorm=rms_norm(hidden),
            pre_ff_layernorm=rms_norm(hidden),
        ),
    )


def granite_layer(config: ModelConfig, kind: JSONScalar) -> Module:
    """A shared MLP in every layer, and experts beside it where there are any."""
    hidden, experts = config.integer("hidden_size"), config.integer("num_local_experts", 0)
    mixture = Module(
        "MixtureOfExperts",
        children=children(
            router=router(hidden, experts),
            experts=fused_experts(
                hidden, config.integer("intermediate_size"), experts, config.integer("num_experts_per_tok", 0)
            ),
        ),
    )
    shared = fused_gated_mlp(
        hidden,
        config.integer("shared_intermediate_size"),
        names=("input_linear", "output_linear"),
        part="shared experts" if experts else "feed-forward",
    )
    return Module(
        "DecoderLayer",
        children=children(
            self_attn=None if kind == "linear_attention" else grouped_query_attention(config),
            input_layernorm=rms_norm(hidden),
            post_attention_layernorm=rms_norm(hidden),
            block_sparse_moe=mixture if experts else None,
            shared_mlp=shared,
            mamba=mixer(config) if kind == "linear_attention" else None,
        ),
    )


def pattern(config: ModelConfig) -> LayerPattern[JSONScalar]:
    length = config.integer("num_hidden_layers")
    if config.model_type == "falcon_h1":
        return constant("hybrid", length)
    if config.model_type == "granitemoehybrid":
        return config.layers("layer_types") if config.is_set("layer_types") else constant("linear_attention", length)
    chosen = config.integers("attn_layer_indices") if config.is_set("attn_layer_indices") else ()
    return at(chosen, length, "full_attention", "linear_attention")


def build(config: ModelConfig) -> Module:
    hidden = config.integer("hidden_size")
    granite = config.model_type == "granitemoehybrid"
    build_layer = granite_layer if granite else layer
    backbone = Module(
        "Model",
        children=children(
            embed_tokens=token_embedding(config.integer("vocab_size"), hidden),
            layers=layers(pattern(config), lambda kind: build_layer(config, kind)),
            **{"norm" if granite else "final_layernorm": rms_norm(hidden)},
        ),
    )
    return with_language_head(config, backbone, hidden=hidden)
