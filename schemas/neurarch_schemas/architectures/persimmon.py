"""Persimmon, Phi (1, 1.5, 2) and StableLM: LayerNorm, rotary positions on part of each head, optional QK LayerNorm."""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import (
    PRE_NORM,
    decoder_layer,
    feed_forward,
    language_model,
    self_attention,
)
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import layers, uniform
from neurarch_schemas.modules.attention import attention_block
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import layer_norm, linear
from neurarch_schemas.modules.tree import AttentionShape, Module, Stack, children

MODEL_TYPES = ("persimmon", "phi", "stablelm")


def per_head_norms(heads: int, dim: int) -> Module:
    """StableLM keeps one LayerNorm module a head."""
    return Module("LayerNormPerHead", children=children(norms=uniform(layer_norm(dim, bias=False), heads)))


def query_key_norms(config: ModelConfig) -> dict[str, Module | Stack | None]:
    if not config.flag("qk_layernorm"):
        return {}
    heads = config.integer("num_attention_heads")
    dim = config.integer("hidden_size") // heads
    if config.model_type == "stablelm":
        kv_heads = config.integer("num_key_value_heads", heads)
        return {"q_layernorm": per_head_norms(heads, dim), "k_layernorm": per_head_norms(kv_heads, dim)}
    return {"q_layernorm": layer_norm(dim), "k_layernorm": layer_norm(dim)}


def persimmon_attention(config: ModelConfig) -> Module:
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    dim = hidden // heads
    return attention_block(
        {
            "query_key_value": linear(hidden, 3 * hidden),
            "dense": linear(heads * dim, hidden),
            **query_key_norms(config),
        },
        AttentionShape(heads, heads, dim, dim, qk_norm=config.flag("qk_layernorm"), position="partial rope"),
        hidden=hidden,
    )


def layer(config: ModelConfig, window: int | None) -> Module:
    hidden, inner, kind = config.integer("hidden_size"), config.integer("intermediate_size"), config.model_type
    norms: tuple[str, ...] = PRE_NORM
    if kind == "persimmon":
        mixer = persimmon_attention(config)
        transform = mlp(hidden, inner, names=("dense_h_to_4h", "dense_4h_to_h"))
    elif kind == "phi":
        mixer = self_attention(
            config,
            window,
            bias=True,
            names=("q_proj", "k_proj", "v_proj", "dense"),
            extra=query_key_norms(config),
            position="partial rope",
        )
        transform = mlp(hidden, inner)
        norms = ("input_layernorm",)
    else:
        mixer = self_attention(
            config,
            window,
            bias=config.flag("use_qkv_bias"),
            out_bias=False,
            divided=True,
            extra=query_key_norms(config),
            position="partial rope",
        )
        transform = feed_forward(config)
        if config.flag("use_parallel_residual"):
            norms = ("input_layernorm",)
    return decoder_layer(hidden, mixer, transform, norms=norms, norm=layer_norm(hidden))


def build(config: ModelConfig) -> Module:
    final = "norm" if config.model_type == "stablelm" else "final_layernorm"
    return language_model(
        config,
        layers(config.windows(), lambda window: layer(config, window)),
        norm=layer_norm(config.integer("hidden_size")),
        names=("embed_tokens", "layers", final),
        head_bias=config.model_type == "phi",
    )
