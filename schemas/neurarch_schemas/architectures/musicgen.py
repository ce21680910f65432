"""MusicGen (arXiv:2306.05284): T5 reads the text, a decoder predicts all codebooks of EnCodec at once."""

from __future__ import annotations

from neurarch_schemas.architectures import build_nested
from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import in_part, uniform
from neurarch_schemas.modules.encoder import encoder_attention
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import embedding, layer_norm, linear
from neurarch_schemas.modules.tree import Module, Stack, named

MODEL_TYPES = ("musicgen", "musicgen_decoder")


def decoder(config: ModelConfig) -> Module:
    """One table for each codebook, with a row for the start; positions are computed."""
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    block: dict[str, Module | Stack | None] = {
        "self_attn": encoder_attention(hidden, heads, bias=False, role="decoder"),
        "self_attn_layer_norm": layer_norm(hidden),
        "encoder_attn": encoder_attention(hidden, heads, bias=False, role="cross"),
        "encoder_attn_layer_norm": layer_norm(hidden),
        **dict(mlp(hidden, config.integer("ffn_dim"), bias=False).children),
        "final_layer_norm": layer_norm(hidden),
    }
    layer = Module("DecoderLayer", children=named(block), part="feed-forward")
    table = embedding(config.integer("vocab_size") + 1, hidden, lookup=True)
    parts: dict[str, Module | Stack | None] = {
        "embed_tokens": uniform(table, config.integer("num_codebooks")),
        "layers": uniform(layer, config.integer("num_hidden_layers")),
        "layer_norm": layer_norm(hidden),
    }
    return Module("Decoder", children=named(parts))


def language_model(config: ModelConfig) -> Module:
    head = linear(config.integer("hidden_size"), config.integer("vocab_size"), bias=False, part="head")
    parts: dict[str, Module | Stack | None] = {
        "model.decoder": decoder(config),
        "lm_heads": uniform(head, config.integer("num_codebooks")),
    }
    return Module("MusicgenForCausalLM", children=named(parts))


def build(config: ModelConfig) -> Module:
    head, kind = head_name(config.architecture), config.model_type
    if kind == "musicgen_decoder" and head == "ForCausalLM":
        return language_model(config)
    if kind == "musicgen_decoder" and head == "Model":
        return Module("Model", children=(("decoder", decoder(config)),))
    if kind != "musicgen" or head != "ForConditionalGeneration":
        raise unknown_head(config.architecture)
    text, words = config.nested_config("text_encoder"), config.nested_config("decoder")
    width, hidden = text.integer("hidden_size"), words.integer("hidden_size")
    projects = width != hidden and not words.is_set("cross_attention_hidden_size")
    parts = {
        "text_encoder": build_nested(config, "text_encoder", "T5EncoderModel"),
        "audio_encoder": in_part(build_nested(config, "audio_encoder"), "audio"),
        "decoder": language_model(words),
        "enc_to_dec_proj": linear(width, hidden, part="projector") if projects else None,
    }
    return Module(config.architecture, children=named(parts))
