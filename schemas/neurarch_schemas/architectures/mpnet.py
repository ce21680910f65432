"""MPNet (arXiv:2004.09297): BERT's encoder with one table of relative-position biases for all layers."""

from __future__ import annotations

from functools import partial

from neurarch_schemas.architectures.bert import pooler
from neurarch_schemas.architectures.encoder_heads import masked_lm_head, with_encoder_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.encoder import bert_embeddings, bert_feed_forward, encoder_attention
from neurarch_schemas.modules.layers import layer_norm, position_embedding
from neurarch_schemas.modules.tree import Module, named, stack

MODEL_TYPES = ("mpnet",)


def backbone(config: ModelConfig, with_pooler: bool) -> Module:
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    names = ("attn.q", "attn.k", "attn.v", "attn.o")
    attention = encoder_attention(
        hidden, heads, names=names, out_inputs=hidden, position="relative", extra={"LayerNorm": layer_norm(hidden)}
    )
    feed_forward = bert_feed_forward(hidden, config.integer("intermediate_size"))
    layer = Module("EncoderLayer", children=named({"attention": attention, **feed_forward}))
    positions = config.integer("max_position_embeddings")
    buckets = config.integer("relative_attention_num_buckets")
    return Module(
        "Model",
        children=named(
            {
                "embeddings": bert_embeddings(config.integer("vocab_size"), hidden, positions=positions, types=None),
                "encoder.layer": stack(layer, times=config.integer("num_hidden_layers")),
                "encoder.relative_attention_bias": position_embedding(buckets, heads),
                "pooler": pooler(hidden) if with_pooler else None,
            }
        ),
    )


def language_model(config: ModelConfig) -> dict[str, Module]:
    table = "mpnet.embeddings.word_embeddings.weight" if config.flag("tie_word_embeddings") else None
    hidden, vocabulary = config.integer("hidden_size"), config.integer("vocab_size")
    return {
        "lm_head": masked_lm_head(hidden, vocabulary, tied_to=table, name="lm_head", transform=("dense", "layer_norm"))
    }


def build(config: ModelConfig) -> Module:
    return with_encoder_head(
        config,
        partial(backbone, config),
        prefix="mpnet",
        hidden=config.integer("hidden_size"),
        language_model=partial(language_model, config),
        classifier="dense",
        pooled=("Model", "ForMultipleChoice"),
    )
