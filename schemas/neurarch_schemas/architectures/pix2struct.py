"""Pix2Struct: an encoder of variable-resolution patches and a T5 decoder with relative positions in its first layer."""

from __future__ import annotations

from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import in_part, lm_head, uniform
from neurarch_schemas.modules.encoder import Role, encoder_attention
from neurarch_schemas.modules.layers import embedding, linear, position_embedding, rms_norm, token_embedding
from neurarch_schemas.modules.tree import Module, Stack, children, concatenate

MODEL_TYPES = ("pix2struct", "pix2struct_text_model", "pix2struct_vision_model")

_PROJECTIONS = ("query", "key", "value", "output")


def gated(hidden: int, inner: int) -> Module:
    return Module(
        "GatedMLP",
        children=children(
            wi_0=linear(hidden, inner, bias=False),
            wi_1=linear(hidden, inner, bias=False),
            wo=linear(inner, hidden, bias=False),
        ),
        part="feed-forward",
    )


def patch_encoder(config: ModelConfig, places: int, *, head_dim: int, inner: int) -> Module:
    """Patches of any aspect ratio with learned rows and columns; RMSNorm and gated MLPs, no biases."""
    hidden = config.integer("hidden_size")
    layer = Module(
        "EncoderLayer",
        children=children(
            attention=encoder_attention(
                hidden,
                config.integer("num_attention_heads"),
                head_dim=head_dim,
                names=_PROJECTIONS,
                bias=False,
            ),
            mlp=gated(hidden, inner),
            pre_mlp_layer_norm=rms_norm(hidden),
            pre_attention_layer_norm=rms_norm(hidden),
        ),
    )
    return Module(
        "VisionModel",
        children=children(
            embeddings=Module(
                "Embeddings",
                children=children(
                    patch_projection=linear(config.integer("patch_embed_hidden_size"), hidden),
                    row_embedder=position_embedding(places, hidden),
                    column_embedder=position_embedding(places, hidden),
                ),
                part="embedding",
            ),
            encoder=Module("Encoder", children=children(layer=uniform(layer, config.integer("num_hidden_layers")))),
            layernorm=rms_norm(hidden),
        ),
    )


def vision_model(config: ModelConfig) -> Module:
    places, inner = config.integer("seq_len"), config.integer("d_ff")
    return patch_encoder(config, places, head_dim=config.integer("d_kv"), inner=inner)


def text_attention(config: ModelConfig, role: Role, source_length: int | None, *, relative: bool) -> Module:
    """The width is the hidden size, whatever ``d_kv`` says."""
    hidden, heads = config.integer("hidden_size"), config.integer("num_heads")
    extra: dict[str, Module | Stack | None] = {}
    if relative:
        buckets = config.integer("relative_attention_num_buckets")
        extra["relative_attention_bias"] = embedding(buckets, heads, part="position")
    block = encoder_attention(
        hidden,
        heads,
        names=_PROJECTIONS,
        bias=False,
        role=role,
        source_length=source_length,
        position="relative",
        extra=extra,
    )
    square = linear(hidden, hidden, bias=False)
    full_width = tuple((name, square if name in _PROJECTIONS else child) for name, child in block.children)
    return Module(
        "AttentionLayer",
        children=children(attention=block.with_(children=full_width), layer_norm=rms_norm(hidden)),
    )


def decoder(config: ModelConfig, source_length: int | None, *, tied: bool) -> Module:
    hidden, words = config.integer("hidden_size"), config.integer("vocab_size")
    transform = Module(
        "FeedForward",
        children=children(DenseReluDense=gated(hidden, config.integer("d_ff")), layer_norm=rms_norm(hidden)),
    )

    def block(relative: bool) -> Module:
        return Module(
            "DecoderLayer",
            children=children(
                self_attention=text_attention(config, "decoder", None, relative=relative),
                encoder_decoder_attention=text_attention(config, "cross", source_length, relative=False),
                mlp=transform,
            ),
        )

    length = config.integer("num_layers")
    return Module(
        "TextModel",
        children=children(
            embed_tokens=token_embedding(words, hidden),
            layer=concatenate(uniform(block(True), min(length, 1)), uniform(block(False), length - 1)),
            final_layer_norm=rms_norm(hidden),
            lm_head=lm_head(hidden, words, tied_to="embed_tokens.weight" if tied else None),
        ),
    )


def build(config: ModelConfig) -> Module:
    if config.model_type == "pix2struct_vision_model":
        return vision_model(config)
    if config.model_type == "pix2struct_text_model":
        return decoder(config, None, tied=config.flag("tie_word_embeddings"))
    if head_name(config.architecture) != "ForConditionalGeneration":
        raise unknown_head(config.architecture)
    vision = config.nested_config("vision_config")
    # The outer tie_word_embeddings replaces the decoder's own.
    text = decoder(
        config.nested_config("text_config"), vision.integer("seq_len"), tied=config.flag("tie_word_embeddings")
    )
    encoder = in_part(vision_model(vision), "vision")
    return Module(config.architecture, children=children(encoder=encoder, decoder=text))
