"""DistilBERT (arXiv:1910.01108): BERT with half the layers, no token types and no pooler."""

from __future__ import annotations

from functools import partial

from neurarch_schemas.architectures.encoder_heads import vocabulary_projection, with_encoder_head
from neurarch_schemas.architectures.language_heads import head_name
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.encoder import bert_embeddings, encoder_attention
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import layer_norm, linear
from neurarch_schemas.modules.tree import Module, named, stack

MODEL_TYPES = ("distilbert",)


def backbone(config: ModelConfig, with_pooler: bool) -> Module:
    del with_pooler  # there is none
    hidden = config.integer("dim")
    layer = Module(
        "EncoderLayer",
        children=named(
            {
                "attention": encoder_attention(
                    hidden, config.integer("n_heads"), names=("q_lin", "k_lin", "v_lin", "out_lin"), position="learned"
                ),
                "sa_layer_norm": layer_norm(hidden),
                "ffn": mlp(hidden, config.integer("hidden_dim"), names=("lin1", "lin2")),
                "output_layer_norm": layer_norm(hidden),
            }
        ),
    )
    positions = config.integer("max_position_embeddings")
    return Module(
        "Model",
        children=named(
            {
                "embeddings": bert_embeddings(config.integer("vocab_size"), hidden, positions=positions, types=None),
                "transformer.layer": stack(layer, times=config.integer("n_layers")),
            }
        ),
    )


def language_model(config: ModelConfig) -> dict[str, Module]:
    hidden = config.integer("dim")
    table = "distilbert.embeddings.word_embeddings.weight" if config.flag("tie_word_embeddings") else None
    return {
        "vocab_transform": linear(hidden, hidden, part="head"),
        "vocab_layer_norm": layer_norm(hidden).with_(part="head"),
        "vocab_projector": vocabulary_projection(hidden, config.integer("vocab_size"), weight=table),
    }


def build(config: ModelConfig) -> Module:
    hidden = config.integer("dim")
    model = with_encoder_head(
        config,
        partial(backbone, config),
        prefix="distilbert",
        hidden=hidden,
        language_model=partial(language_model, config),
    )
    if head_name(config.architecture) in ("ForSequenceClassification", "ForMultipleChoice"):
        return model.with_(children=(*model.children, ("pre_classifier", linear(hidden, hidden, part="head"))))
    return model
