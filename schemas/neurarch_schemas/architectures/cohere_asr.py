"""Speech recognition of Cohere and Canary: a Parakeet encoder and a pre-norm decoder with cross attention."""

from __future__ import annotations

from neurarch_schemas.architectures import build_nested
from neurarch_schemas.architectures.decoder import head_dim
from neurarch_schemas.architectures.language_heads import unknown_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import lm_head, uniform
from neurarch_schemas.modules.attention import attention
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import layer_norm, linear, position_embedding, token_embedding
from neurarch_schemas.modules.tree import Cache, Module, children

MODEL_TYPES = ("cohere_asr", "canary")


def layer(config: ModelConfig, frames: int | None) -> Module:
    """``frames`` is the encoder's declared length, for the cross-attention cache."""
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    kv_heads, dim, bias = config.integer("num_key_value_heads", heads), head_dim(config), config.flag("attention_bias")
    position = "learned" if config.model_type == "cohere_asr" else "sinusoidal"
    itself = attention(hidden, heads, kv_heads, dim, bias=bias, position=position)
    cross = attention(hidden, heads, kv_heads, dim, bias=bias, kind="cross", position="none", cached=False)
    cross = cross.with_(caches=(Cache("cross", per_token=2 * kv_heads * dim, source_length=frames),))
    return Module(
        "DecoderLayer",
        children=children(
            self_attn=itself,
            encoder_attn=cross,
            mlp=mlp(hidden, config.integer("intermediate_size")),
            input_layernorm=layer_norm(hidden),
            post_attention_layernorm=layer_norm(hidden),
            final_layernorm=layer_norm(hidden),
        ),
        width_in=hidden,
        width_out=hidden,
    )


def decoder(config: ModelConfig, encoder: ModelConfig) -> Module:
    hidden, cohere = config.integer("hidden_size"), config.model_type == "cohere_asr"
    frames = encoder.optional_integer("max_position_embeddings")
    return Module(
        "Decoder",
        children=children(
            embed_tokens=token_embedding(config.integer("vocab_size"), hidden),
            layers=uniform(layer(config, frames), config.integer("num_hidden_layers")),
            norm=layer_norm(hidden),
            # Canary's positions are sinusoidal and not stored.
            pos_emb=position_embedding(config.integer("max_position_embeddings"), hidden) if cohere else None,
            embedding_layernorm=layer_norm(hidden),
            proj=linear(encoder.integer("hidden_size"), hidden) if cohere else None,
        ),
        width_out=hidden,
    )


def build(config: ModelConfig) -> Module:
    inner = config if config.model_type == "cohere_asr" else config.nested_config("decoder_config")
    encoder = config.nested_config("encoder_config")
    model = Module(
        "Model",
        children=children(encoder=build_nested(config, "encoder_config", "Encoder"), decoder=decoder(inner, encoder)),
    )
    if config.architecture.endswith("Model"):
        return model
    if not config.architecture.endswith("ForConditionalGeneration"):
        raise unknown_head(config.architecture)
    tied = "model.decoder.embed_tokens.weight" if config.flag("tie_word_embeddings") else None
    top = lm_head(inner.integer("hidden_size"), inner.integer("vocab_size"), tied_to=tied, bias=True)
    return Module(config.architecture, children=children(model=model, proj_out=top))
