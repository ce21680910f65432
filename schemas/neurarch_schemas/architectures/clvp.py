"""CLVP, of Tortoise TTS: a decoder of speech codes, and two encoders that score how well speech fits a text."""

from __future__ import annotations

from typing import Literal

from neurarch_schemas.architectures.language_heads import unknown_head
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import in_part, lm_head, uniform
from neurarch_schemas.modules.attention import attention
from neurarch_schemas.modules.layers import (
    convolution,
    group_norm,
    layer_norm,
    linear,
    position_embedding,
    rms_norm,
    token_embedding,
    transposed_linear,
)
from neurarch_schemas.modules.tree import Module, Tensor, children

MODEL_TYPES = ("clvp",)

_NAMES = ("q_proj", "k_proj", "v_proj", "out_proj")


def self_attention(config: ModelConfig, kind: Literal["full", "encoder"], position: str) -> Module:
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    if not heads or hidden % heads:
        keys = ("hidden_size", "num_attention_heads")
        raise CannotBuild("hidden_size must be a multiple of num_attention_heads", keys)
    bias = config.flag("use_attention_bias")
    return attention(
        hidden, heads, bias=bias, out_bias=True, names=_NAMES, kind=kind, position=position, cached=kind == "full"
    )


def encoder(config: ModelConfig) -> Module:
    """Frequencies are stored. The width of the rotary embedding comes from ``projection_dim``."""
    hidden, inner = config.integer("hidden_size"), config.integer("intermediate_size")
    heads, projected = config.integer("num_attention_heads"), config.integer("projection_dim")
    rotary = config.flag("use_rotary_embedding")
    mixer = self_attention(config, "encoder", "partial rope" if rotary else "none")
    gate = Module("GatedLinearUnit", children=children(proj=linear(hidden, 2 * inner)))
    layer = Module(
        "EncoderLayer",
        children=children(
            self_attn=mixer,
            mlp=Module("MLP", children=children(fc1=gate, fc2=linear(inner, hidden)), part="feed-forward"),
            input_rmsnorm=rms_norm(hidden),
            post_attention_rmsnorm=rms_norm(hidden),
        ),
        width_in=hidden,
        width_out=hidden,
    )
    frequencies = (max(projected // (heads * 2), 32) + 1) // 2
    rotation = Module("RotaryEmbedding", (Tensor("inv_freq", (frequencies,), "buffer"),))
    return Module(
        "Encoder",
        children=children(
            token_embedding=token_embedding(config.integer("vocab_size"), hidden),
            rotary_pos_emb=rotation if rotary else None,
            layers=uniform(layer, config.integer("num_hidden_layers")),
            final_layer_norm=layer_norm(hidden),
            projection=linear(hidden, projected, bias=False),
        ),
    )


def decoder(config: ModelConfig) -> Module:
    hidden = config.integer("hidden_size")
    inner = config.integer("n_inner", 4 * hidden)
    maps = children(c_fc=transposed_linear(hidden, inner), c_proj=transposed_linear(inner, hidden))
    layer = Module(
        "DecoderLayer",
        children=children(
            input_layernorm=layer_norm(hidden),
            attn=self_attention(config, "full", "learned"),
            post_attention_layernorm=layer_norm(hidden),
            mlp=Module("MLP", children=maps, part="feed-forward"),
        ),
        width_in=hidden,
        width_out=hidden,
    )
    inside = Module(
        "Decoder",
        children=children(
            input_embeds_layer=token_embedding(config.integer("vocab_size"), hidden),
            position_embeds_layer=position_embedding(config.integer("max_position_embeddings"), hidden),
            layers=uniform(layer, config.integer("num_hidden_layers")),
            layer_norm=layer_norm(hidden),
        ),
    )
    return Module(
        "ForCausalLM",
        children=children(
            model=Module("Model", children=children(decoder=inside)),
            final_norm=layer_norm(hidden),
            lm_head=lm_head(hidden, config.integer("vocab_size"), bias=True),
        ),
    )


def conditioning_encoder(text: ModelConfig, speech: ModelConfig) -> Module:
    """What the decoder is conditioned on: the text, and a spectrogram of the voice."""
    hidden, blocks = speech.integer("hidden_size"), speech.integer("num_mel_attn_blocks")
    mixer = self_attention(speech, "encoder", "none")
    return Module(
        "ConditioningEncoder",
        children=children(
            text_token_embedding=token_embedding(text.integer("vocab_size"), hidden),
            text_position_embedding=position_embedding(speech.integer("max_text_tokens"), hidden),
            mel_conv=convolution(speech.integer("feature_size"), hidden, (1,)),
            group_norms=uniform(group_norm(hidden), blocks),
            mel_attn_blocks=uniform(mixer, blocks),
        ),
    )


def build(config: ModelConfig) -> Module:
    if not config.architecture.endswith("ForConditionalGeneration"):
        raise unknown_head(config.architecture)
    text, speech = config.nested_config("text_config"), config.nested_config("decoder_config")
    return Module(
        config.architecture,
        (Tensor("logit_scale", ()),),
        children(
            conditioning_encoder=conditioning_encoder(text, speech),
            speech_decoder_model=decoder(speech),
            text_encoder_model=encoder(text),
            speech_encoder_model=in_part(encoder(config.nested_config("speech_config")), "audio"),
        ),
    )
