"""Spark 2.5 with the code that came with it: windows in three of four layers, a gate for each head of attention.

Equal tensor by tensor to the one of mlx-lm.
"""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import decoder_layer, feed_forward, head_dim, language_model
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.attention import fused_attention
from neurarch_schemas.modules.layers import linear
from neurarch_schemas.modules.tree import Module

MODEL_TYPES = ("spark2_5",)

KINDS = ("sliding_attention", "full_attention")


def layer(config: ModelConfig, kind: object) -> Module:
    if kind not in KINDS:
        raise CannotBuild(f"a layer of the kind {kind!r} is not known", ("layer_types",))
    hidden, heads, bias = (
        config.integer("hidden_size"),
        config.integer("num_attention_heads"),
        config.flag("attention_bias", False),
    )
    mixer = fused_attention(
        hidden,
        heads,
        config.integer("num_key_value_heads"),
        head_dim(config),
        bias=bias,
        names=("q_k_v_proj", "out_proj"),
        window=config.integer("sliding_window") if kind == KINDS[0] else None,
        extra={"g_proj": linear(hidden, heads, bias)},
    )
    return decoder_layer(hidden, mixer, feed_forward(config, bias=config.flag("mlp_bias", False)))


def build(config: ModelConfig) -> Module:
    if config.architecture != "Spark2_5ForCausalLM" or not config.flag("headwise_attn_output_gate", True):
        raise CannotBuild("only Spark2_5ForCausalLM with a gate for each head is known", ("architectures",))
    return language_model(
        config,
        layers(config.layers("layer_types"), lambda kind: layer(config, kind)),
        names=("embedding", "layers", "norm"),
        tied=config.flag("tie_word_embeddings", True),
    )
