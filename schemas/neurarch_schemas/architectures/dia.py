"""Dia: text to speech by an encoder of bytes and a decoder of several codebooks at once."""

from __future__ import annotations

from typing import Literal

from neurarch_schemas.architectures.decoder import head_dim
from neurarch_schemas.architectures.language_heads import unknown_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import lm_head, uniform
from neurarch_schemas.modules.attention import attention, attention_block
from neurarch_schemas.modules.layers import linear, rms_norm, token_embedding
from neurarch_schemas.modules.tree import AttentionShape, Cache, Module, children

MODEL_TYPES = ("dia",)


def self_attention(config: ModelConfig, *, causal: bool) -> Module:
    heads = config.integer("num_attention_heads")
    kv_heads = config.integer("num_key_value_heads", heads) or heads
    kind: Literal["full", "encoder"] = "full" if causal else "encoder"
    return attention(
        config.integer("hidden_size"), heads, kv_heads, head_dim(config), kind=kind, cached=causal, position="rope"
    )


def cross_attention(config: ModelConfig) -> Module:
    """Keys and values of the encoder's output, of its width, cached once."""
    hidden, source = config.integer("hidden_size"), config.integer("cross_hidden_size")
    heads, kv_heads = config.integer("cross_num_attention_heads"), config.integer("cross_num_key_value_heads")
    dim = config.integer("cross_head_dim")
    return attention_block(
        {
            "q_proj": linear(hidden, heads * dim, bias=False),
            "k_proj": linear(source, kv_heads * dim, bias=False),
            "v_proj": linear(source, kv_heads * dim, bias=False),
            "o_proj": linear(heads * dim, hidden, bias=False),
        },
        AttentionShape(heads, kv_heads, dim, dim, "cross", causal=False, position="rope"),
        hidden=hidden,
        caches=(Cache("cross", per_token=2 * kv_heads * dim),),
    )


def feed_forward(config: ModelConfig) -> Module:
    hidden, inner = config.integer("hidden_size"), config.integer("intermediate_size")
    maps = children(
        gate_up_proj=linear(hidden, 2 * inner, bias=False),
        down_proj=linear(inner, hidden, bias=False),
    )
    return Module("GatedMLP", children=maps, part="feed-forward", width_in=hidden, width_out=hidden)


def encoder(config: ModelConfig) -> Module:
    hidden = config.integer("hidden_size")
    layer = Module(
        "EncoderLayer",
        children=children(
            pre_sa_norm=rms_norm(hidden),
            self_attention=self_attention(config, causal=False),
            post_sa_norm=rms_norm(hidden),
            mlp=feed_forward(config),
        ),
    )
    return Module(
        "Encoder",
        children=children(
            embedding=token_embedding(config.integer("vocab_size"), hidden),
            layers=uniform(layer, config.integer("num_hidden_layers")),
            norm=rms_norm(hidden),
        ),
        width_out=hidden,
    )


def decoder(config: ModelConfig) -> Module:
    hidden, channels = config.integer("hidden_size"), config.integer("num_channels")
    layer = Module(
        "DecoderLayer",
        children=children(
            self_attention=self_attention(config, causal=True),
            cross_attention=cross_attention(config),
            pre_sa_norm=rms_norm(hidden),
            pre_ca_norm=rms_norm(hidden),
            pre_mlp_norm=rms_norm(hidden),
            mlp=feed_forward(config),
        ),
    )
    embed = token_embedding(channels * config.integer("vocab_size"), hidden)
    return Module(
        "Decoder",
        children=children(
            embeddings=Module("MultiChannelEmbedding", children=children(embed=embed)),
            layers=uniform(layer, config.integer("num_hidden_layers")),
            norm=rms_norm(hidden),
        ),
        width_out=hidden,
    )


def build(config: ModelConfig) -> Module:
    written = config.nested_config("decoder_config")
    model = Module(
        "Model",
        children=children(encoder=encoder(config.nested_config("encoder_config")), decoder=decoder(written)),
    )
    if config.architecture.endswith("Model"):
        return model
    if not config.architecture.endswith("ForConditionalGeneration"):
        raise unknown_head(config.architecture)
    codes = written.integer("num_channels") * written.integer("vocab_size")
    top = lm_head(written.integer("hidden_size"), codes)
    return Module(config.architecture, children=children(model=model, logits_dense=top))
