"""Kyutai's speech-to-text model: Moshi's layers over summed text and audio tokens, with the Mimi codec beside them."""

from __future__ import annotations

from neurarch_schemas.architectures import build_nested
from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.architectures.moshi import layer
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import lm_head, uniform
from neurarch_schemas.modules.layers import rms_norm, token_embedding
from neurarch_schemas.modules.tree import Module, children

MODEL_TYPES = ("kyutai_speech_to_text",)


def build(config: ModelConfig) -> Module:
    hidden, vocabulary = config.integer("hidden_size"), config.integer("vocab_size")
    # One table for text and for all codebooks, with one row more for padding.
    rows = vocabulary + config.integer("num_codebooks") * config.integer("codebook_vocab_size") + 1
    backbone = Module(
        "Model",
        children=children(
            embed_tokens=Module("Embeddings", children=children(embed_tokens=token_embedding(rows, hidden))),
            layers=uniform(layer(config), config.integer("num_hidden_layers")),
            norm=rms_norm(hidden),
        ),
        width_out=hidden,
    )
    head = head_name(config.architecture)
    if head == "Model":
        return backbone
    if head != "ForConditionalGeneration":
        raise unknown_head(config.architecture)
    tied = "model.embed_tokens.embed_tokens.weight" if config.flag("tie_word_embeddings") else None
    return Module(
        config.architecture,
        children=children(
            model=backbone,
            lm_head=lm_head(hidden, vocabulary, tied_to=tied),
            codec_model=build_nested(config, "codec_config"),
        ),
    )
