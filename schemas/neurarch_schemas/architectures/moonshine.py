"""Moonshine (arXiv:2410.15608): speech recognition from raw audio, rotary positions on both sides."""

from __future__ import annotations

from typing import Literal

from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import in_part
from neurarch_schemas.modules.attention import attention
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import convolution, group_norm, layer_norm, linear, token_embedding
from neurarch_schemas.modules.tree import Cache, Module, Stack, named, stack

MODEL_TYPES = ("moonshine",)


def self_attention(config: ModelConfig, kind: Literal["full", "encoder", "cross"]) -> Module:
    """``cross``: keys and values of the encoder's output, cached once.

    The decoder is built with the heads of the encoder: the class asks for num_attention_heads, which stands for those.
    """
    hidden, heads = config.integer("hidden_size"), config.integer("encoder_num_attention_heads")
    kv_heads = config.integer("encoder_num_key_value_heads", heads)
    dim = config.integer("head_dim", hidden // heads)
    built = attention(
        hidden,
        heads,
        kv_heads,
        dim,
        bias=config.flag("attention_bias"),
        out_bias=False,
        kind=kind,
        cached=kind == "full",
        position=None if kind == "cross" else "rope",
    )
    if kind == "cross":
        return built.with_(caches=(Cache("cross", per_token=2 * kv_heads * dim),))
    return built


def encoder(config: ModelConfig) -> Module:
    hidden = config.integer("hidden_size")
    layer = Module(
        "EncoderLayer",
        children=named(
            {
                "self_attn": self_attention(config, "encoder"),
                "mlp": mlp(hidden, config.integer("intermediate_size")),
                "input_layernorm": layer_norm(hidden, bias=False),
                "post_attention_layernorm": layer_norm(hidden, bias=False),
            }
        ),
    )
    parts: dict[str, Module | Stack | None] = {
        "conv1": convolution(1, hidden, (127,), bias=False),
        "conv2": convolution(hidden, 2 * hidden, (7,)),
        "conv3": convolution(2 * hidden, hidden, (3,)),
        "groupnorm": group_norm(hidden),
        "layers": stack(layer, times=config.integer("encoder_num_hidden_layers")),
        "layer_norm": layer_norm(hidden, bias=False),
    }
    return in_part(Module("Encoder", children=named(parts)), "audio")


def decoder(config: ModelConfig) -> Module:
    """The feed-forward is gated: its first matrix gives gate and value."""
    hidden, inner = config.integer("hidden_size"), config.integer("intermediate_size")
    gated = {"fc1": linear(hidden, 2 * inner), "fc2": linear(inner, hidden)}
    layer = Module(
        "DecoderLayer",
        children=named(
            {
                "self_attn": self_attention(config, "full"),
                "encoder_attn": self_attention(config, "cross"),
                "mlp": Module("GatedMLP", children=named(gated), part="feed-forward"),
                "input_layernorm": layer_norm(hidden, bias=False),
                "post_attention_layernorm": layer_norm(hidden, bias=False),
                "final_layernorm": layer_norm(hidden, bias=False),
            }
        ),
    )
    parts: dict[str, Module | Stack | None] = {
        "embed_tokens": token_embedding(config.integer("vocab_size"), hidden),
        "layers": stack(layer, times=config.integer("decoder_num_hidden_layers")),
        "norm": layer_norm(hidden, bias=False),
    }
    return Module("Decoder", children=named(parts))


def build(config: ModelConfig) -> Module:
    head = head_name(config.architecture)
    model = Module("Model", children=named({"encoder": encoder(config), "decoder": decoder(config)}))
    if head == "Model":
        return model
    if head != "ForConditionalGeneration":
        raise unknown_head(config.architecture)
    tied = "model.decoder.embed_tokens.weight" if config.flag("tie_word_embeddings") else None
    hidden, vocabulary = config.integer("hidden_size"), config.integer("vocab_size")
    output = linear(hidden, vocabulary, bias=False, tied_to=tied, part="head")
    return Module(config.architecture, children=named({"model": model, "proj_out": output}))
