"""ALBERT (arXiv:1909.11942): factorized embeddings, and layers that share their weights by group."""

from __future__ import annotations

from functools import partial

from neurarch_schemas.architectures.encoder_heads import masked_lm_head, with_encoder_head
from neurarch_schemas.architectures.language_heads import head_name, label_count
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.encoder import bert_embeddings, encoder_attention
from neurarch_schemas.modules.layers import layer_norm, linear
from neurarch_schemas.modules.tree import Module, Run, Stack, named, stack

MODEL_TYPES = ("albert",)


def layer(config: ModelConfig) -> Module:
    hidden, intermediate = config.integer("hidden_size"), config.integer("intermediate_size")
    return Module(
        "EncoderLayer",
        children=named(
            {
                "full_layer_layer_norm": layer_norm(hidden),
                "attention": encoder_attention(
                    hidden,
                    config.integer("num_attention_heads"),
                    names=("query", "key", "value", "dense"),
                    out_inputs=hidden,
                    position="learned",
                    extra={"LayerNorm": layer_norm(hidden)},
                ),
                "ffn": linear(hidden, intermediate).with_(part="feed-forward"),
                "ffn_output": linear(intermediate, hidden).with_(part="feed-forward"),
            }
        ),
    )


def backbone(config: ModelConfig, with_pooler: bool) -> Module:
    """``num_hidden_layers`` is how often groups are run, all together; there are ``num_hidden_groups``."""
    hidden, width = config.integer("hidden_size"), config.integer("embedding_size")
    embeddings = bert_embeddings(
        config.integer("vocab_size"),
        width,
        positions=config.integer("max_position_embeddings"),
        types=config.integer("type_vocab_size"),
    )
    layers = stack(layer(config), times=config.integer("inner_group_num"))
    group = Module("LayerGroup", children=(("albert_layers", layers),))
    groups = config.integer("num_hidden_groups")
    passes, longer = divmod(config.integer("num_hidden_layers"), max(groups, 1))
    runs = ((group.with_(passes=passes + 1), longer), (group.with_(passes=passes), groups - longer))
    return Module(
        "Model",
        children=named(
            {
                "embeddings": embeddings,
                "encoder.embedding_hidden_mapping_in": linear(width, hidden),
                "encoder.albert_layer_groups": Stack(tuple(Run((each,), times) for each, times in runs if times > 0)),
                "pooler": linear(hidden, hidden, part="head") if with_pooler else None,
            }
        ),
    )


def language_model(config: ModelConfig) -> dict[str, Module]:
    table = "albert.embeddings.word_embeddings.weight" if config.flag("tie_word_embeddings") else None
    head = masked_lm_head(
        config.integer("hidden_size"),
        config.integer("vocab_size"),
        tied_to=table,
        name="predictions",
        width=config.integer("embedding_size"),
        transform=("dense", "LayerNorm"),
    )
    return {"predictions": head}


def build(config: ModelConfig) -> Module:
    hidden = config.integer("hidden_size")
    if head_name(config.architecture) == "ForPreTraining":
        children = {
            "albert": backbone(config, with_pooler=True),
            **language_model(config),
            "sop_classifier.classifier": linear(hidden, label_count(config), part="head"),
        }
        return Module(config.architecture, children=named(children))
    return with_encoder_head(
        config,
        partial(backbone, config),
        prefix="albert",
        hidden=hidden,
        language_model=partial(language_model, config),
        pooled=("Model", "ForMultipleChoice"),
    )
