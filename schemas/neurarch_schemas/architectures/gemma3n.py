"""Gemma 3n (text): alternating updates over several copies of the residual stream, per-layer embeddings, shared caches.

The last ``num_kv_shared_layers`` layers reuse the keys and values of earlier ones and have no key or value projection.
"""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import SANDWICH_NORM, head_dim, language_model
from neurarch_schemas.config.layer_pattern import LayerPattern
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.config.periods import constant
from neurarch_schemas.documents.json_value import JSONScalar
from neurarch_schemas.modules.assembly import layers, uniform
from neurarch_schemas.modules.attention import attention_block
from neurarch_schemas.modules.feed_forward import gated_mlp
from neurarch_schemas.modules.layers import embedding, linear, rms_norm
from neurarch_schemas.modules.tree import AttentionShape, Module, Tensor, children

MODEL_TYPES = ("gemma3n_text",)


def shared_layers(config: ModelConfig) -> LayerPattern[bool]:
    """Which layers reuse the cache of an earlier one: the last ``num_kv_shared_layers``."""
    length = config.integer("num_hidden_layers")
    own = max(length - config.integer("num_kv_shared_layers"), 0)
    return constant(False, own) + constant(True, length - own)


def self_attention(config: ModelConfig, window: int | None, shared: bool) -> Module:
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    kv_heads, dim, bias = config.integer("num_key_value_heads"), head_dim(config), config.flag("attention_bias")
    shape = AttentionShape(
        heads, kv_heads, dim, dim, "full" if window is None else "sliding", window, qk_norm=True, position="rope"
    )
    own = not shared
    return attention_block(
        {
            "q_proj": linear(hidden, heads * dim, bias),
            "q_norm": rms_norm(dim),
            "k_proj": linear(hidden, kv_heads * dim, bias) if own else None,
            "v_proj": linear(hidden, kv_heads * dim, bias) if own else None,
            "k_norm": rms_norm(dim) if own else None,
            "o_proj": linear(heads * dim, hidden, bias),
        },
        shape,
        hidden=hidden,
        caches=None if own else (),
    )


def alternating_updates(hidden: int, streams: int) -> Module:
    """AltUp (arXiv:2301.13310): predicts all streams, computes one, corrects the others."""
    return Module(
        "AltUp",
        (Tensor("correct_output_scale", (hidden,)),),
        children(
            correction_coefs=linear(streams, streams, bias=False),
            prediction_coefs=linear(streams, streams * streams, bias=False),
            modality_router=linear(hidden, streams, bias=False),
            router_norm=rms_norm(hidden),
        ),
        part="other",
    )


def laurel(hidden: int, rank: int) -> Module:
    """A learned low-rank residual (arXiv:2411.07501)."""
    return Module(
        "Laurel",
        children=children(
            linear_left=linear(hidden, rank, bias=False),
            linear_right=linear(rank, hidden, bias=False),
            post_laurel_norm=rms_norm(hidden),
        ),
        part="other",
    )


def per_layer_input(hidden: int, width: int) -> dict[str, Module]:
    """What a layer does with its slice of the per-layer embedding."""
    return {
        "per_layer_input_gate": linear(hidden, width, bias=False, part="embedding"),
        "per_layer_projection": linear(width, hidden, bias=False, part="embedding"),
        "post_per_layer_input_norm": rms_norm(hidden),
    }


def per_layer_embedding(config: ModelConfig, hidden: int, width: int) -> dict[str, Module]:
    """A second token table with a slice for every layer, and its projection from the hidden state."""
    total = config.integer("num_hidden_layers") * width
    return {
        "embed_tokens_per_layer": embedding(config.integer("vocab_size_per_layer_input"), total, lookup=True),
        "per_layer_model_projection": linear(hidden, total, bias=False, part="embedding"),
        "per_layer_projection_norm": rms_norm(width),
    }


def layer(config: ModelConfig, kind: JSONScalar, shared: bool, intermediate: JSONScalar) -> Module:
    hidden = config.integer("hidden_size")
    window = config.integer("sliding_window") if kind == "sliding_attention" else None
    width = intermediate if isinstance(intermediate, int) else config.integer("intermediate_size")
    return Module(
        "DecoderLayer",
        children=children(
            self_attn=self_attention(config, window, shared),
            mlp=gated_mlp(hidden, width),
            **dict.fromkeys(SANDWICH_NORM, rms_norm(hidden)),
            altup=alternating_updates(hidden, config.integer("altup_num_inputs")),
            laurel=laurel(hidden, config.integer("laurel_rank")),
            **per_layer_input(hidden, config.integer("hidden_size_per_layer_input")),
        ),
    )


def build(config: ModelConfig) -> Module:
    hidden, length = config.integer("hidden_size"), config.integer("num_hidden_layers")
    widths: LayerPattern[JSONScalar] = (
        constant(config.integer("intermediate_size"), length)
        if isinstance(config.get("intermediate_size"), int)
        else config.layers("intermediate_size")
    )
    pattern = config.layers("layer_types").zip(shared_layers(config)).zip(widths)
    projection = uniform(linear(hidden, hidden, bias=False), max(config.integer("altup_num_inputs") - 1, 0))
    return language_model(
        config,
        layers(pattern, lambda kind: layer(config, *kind[0], kind[1])),
        after={
            **per_layer_embedding(config, hidden, config.integer("hidden_size_per_layer_input")),
            "altup_projections": projection,
            "altup_unembed_projections": projection,
        },
    )
