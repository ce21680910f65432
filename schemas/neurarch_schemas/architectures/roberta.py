"""RoBERTa and its descendants: BERT's encoder, the head ``lm_head`` and a two-layer sequence classifier."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from neurarch_schemas.architectures.bert import pooler
from neurarch_schemas.architectures.encoder_heads import LANGUAGE_MODELS, masked_lm_head, with_encoder_head
from neurarch_schemas.architectures.language_heads import head_name
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.encoder import bert_embeddings, bert_layer
from neurarch_schemas.modules.layers import embedding, layer_norm, linear, position_embedding
from neurarch_schemas.modules.tree import Module, Stack, Tensor, named, stack

MODEL_TYPES = (
    "roberta",
    "xlm-roberta",
    "camembert",
    "data2vec-text",
    "roberta-prelayernorm",
    "xlm-roberta-xl",
    "xmod",
    "longformer",
    "luke",
    "lilt",
    "markuplm",
)

PREFIXES = {
    "data2vec-text": "data2vec_text",
    "roberta-prelayernorm": "roberta_prelayernorm",
    "longformer": "longformer",
    "luke": "luke",
    "lilt": "lilt",
    "markuplm": "markuplm",
}
"""The backbone's attribute; "roberta" for the others."""

HEAD_FIRST = ("xlm-roberta", "camembert")
"""Types whose class registers the head before the backbone: the tied matrix goes by the head's name."""


def layer(config: ModelConfig) -> Module:
    hidden, intermediate = config.integer("hidden_size"), config.integer("intermediate_size")
    kind = config.model_type
    attention_norm = feed_forward_norm = "output.LayerNorm"
    attention_extra: dict[str, Module | Stack | None] = {}
    extra: dict[str, Module | Stack | None] = {}
    if kind == "roberta-prelayernorm":
        attention_norm, feed_forward_norm = "LayerNorm", "intermediate.LayerNorm"
    elif kind == "xlm-roberta-xl":
        attention_norm, feed_forward_norm = "self_attn_layer_norm", "LayerNorm"
    elif kind == "longformer":
        # Tokens with global attention have projections of their own (arXiv:2004.05150, section 3.1).
        attention_extra = {f"self.{name}_global": linear(hidden, hidden) for name in ("query", "key", "value")}
    elif kind == "luke" and config.flag("use_entity_aware_attention"):
        attention_extra = {f"self.{name}_query": linear(hidden, hidden) for name in ("w2e", "e2w", "e2e")}
    elif kind == "lilt":
        narrow = hidden // config.integer("channel_shrink_ratio")
        inner = intermediate // config.integer("channel_shrink_ratio")
        attention_extra = {f"self.layout_{name}": linear(narrow, narrow) for name in ("query", "key", "value")}
        attention_extra["layout_output.dense"] = linear(narrow, narrow)
        attention_extra["layout_output.LayerNorm"] = layer_norm(narrow)
        extra = {
            "layout_intermediate.dense": linear(narrow, inner).with_(part="feed-forward"),
            "layout_output.dense": linear(inner, narrow).with_(part="feed-forward"),
            "layout_output.LayerNorm": layer_norm(narrow),
        }
    elif kind == "xmod":
        bottleneck = hidden // config.integer("adapter_reduction_factor")
        if config.flag("adapter_layer_norm"):
            extra["output.adapter_layer_norm"] = layer_norm(hidden)
        for language in dict.fromkeys(config.strings("languages")):
            extra[f"output.adapter_modules.{language}.dense1"] = linear(hidden, bottleneck)
            extra[f"output.adapter_modules.{language}.dense2"] = linear(bottleneck, hidden)
    return bert_layer(
        hidden,
        config.integer("num_attention_heads"),
        intermediate,
        decoder=config.flag("is_decoder"),
        cross=config.flag("add_cross_attention"),
        attention_norm=attention_norm,
        feed_forward_norm=feed_forward_norm,
        attention_extra=attention_extra,
        extra=extra,
    )


def xpath_embeddings(config: ModelConfig) -> Module:
    """MarkupLM embeds the path of tags to a text node: ``max_depth`` units of tag and of subscript."""
    hidden, unit, depth = (
        config.integer("hidden_size"),
        config.integer("xpath_unit_hidden_size"),
        config.integer("max_depth"),
    )
    tags = embedding(config.integer("max_xpath_tag_unit_embeddings"), unit)
    subscripts = embedding(config.integer("max_xpath_subs_unit_embeddings"), unit)
    return Module(
        "XPathEmbeddings",
        children=named(
            {
                "xpath_unitseq2_embeddings": linear(unit * depth, hidden),
                "xpath_unitseq2_inner": linear(unit * depth, 4 * hidden),
                "inner2emb": linear(4 * hidden, hidden),
                "xpath_tag_sub_embeddings": stack(tags, times=depth),
                "xpath_subs_sub_embeddings": stack(subscripts, times=depth),
            }
        ),
    )


def layout_embeddings(config: ModelConfig) -> Module:
    hidden = config.integer("hidden_size")
    narrow = hidden // config.integer("channel_shrink_ratio")
    axes = {
        f"{axis}_position_embeddings": position_embedding(config.integer("max_2d_position_embeddings"), hidden // 6)
        for axis in "xyhw"
    }
    return Module(
        "LayoutEmbeddings",
        children=named(
            {
                **axes,
                "box_position_embeddings": position_embedding(config.integer("max_position_embeddings"), narrow),
                "box_linear_embeddings": linear(hidden, narrow),
                "LayerNorm": layer_norm(narrow),
            }
        ),
        part="position",
    )


def entity_embeddings(config: ModelConfig) -> Module:
    hidden, width = config.integer("hidden_size"), config.integer("entity_emb_size")
    return Module(
        "EntityEmbeddings",
        children=named(
            {
                "entity_embeddings": embedding(config.integer("entity_vocab_size"), width),
                "entity_embedding_dense": linear(width, hidden, bias=False) if width != hidden else None,
                "position_embeddings": position_embedding(config.integer("max_position_embeddings"), hidden),
                "token_type_embeddings": embedding(config.integer("type_vocab_size"), hidden),
                "LayerNorm": layer_norm(hidden),
            }
        ),
        part="embedding",
    )


def backbone(config: ModelConfig, with_pooler: bool) -> Module:
    hidden, kind = config.integer("hidden_size"), config.model_type
    final_norm = kind == "xlm-roberta-xl" or (kind == "xmod" and config.flag("pre_norm"))
    tied = config.flag("tie_word_embeddings") and head_name(config.architecture) in LANGUAGE_MODELS
    embeddings = bert_embeddings(
        config.integer("vocab_size"),
        hidden,
        positions=config.integer("max_position_embeddings"),
        types=config.integer("type_vocab_size"),
        norm=kind != "xlm-roberta-xl",
        tied_to="lm_head.decoder.weight" if tied and kind in HEAD_FIRST else None,
        extra={"xpath_embeddings": xpath_embeddings(config)} if kind == "markuplm" else None,
    )
    return Module(
        "Model",
        children=named(
            {
                "embeddings": embeddings,
                "layout_embeddings": layout_embeddings(config) if kind == "lilt" else None,
                "entity_embeddings": entity_embeddings(config) if kind == "luke" else None,
                "encoder.layer": stack(layer(config), times=config.integer("num_hidden_layers")),
                "encoder.LayerNorm": layer_norm(hidden) if final_norm else None,
                "LayerNorm": layer_norm(hidden) if kind == "roberta-prelayernorm" else None,
                "pooler": pooler(hidden) if with_pooler else None,
            }
        ),
    )


def language_model(config: ModelConfig, prefix: str) -> Mapping[str, Module]:
    hidden, vocabulary = config.integer("hidden_size"), config.integer("vocab_size")
    tied = config.flag("tie_word_embeddings")
    table = f"{prefix}.embeddings.word_embeddings.weight"
    head = masked_lm_head(
        hidden,
        vocabulary,
        tied_to=table if tied and config.model_type not in HEAD_FIRST else None,
        name="lm_head",
        transform=("dense", "layer_norm"),
        tied_bias=tied,
    )
    return {"lm_head": head}


def entity_model(config: ModelConfig) -> Mapping[str, Module]:
    """LUKE predicts words and entities; transformers ties the entity table and the output bias, not the word table."""
    hidden, vocabulary = config.integer("hidden_size"), config.integer("vocab_size")
    width, entities = config.integer("entity_emb_size"), config.integer("entity_vocab_size")
    tied = config.flag("tie_word_embeddings")
    shared = "luke.entity_embeddings.entity_embeddings.weight" if tied else None
    words = masked_lm_head(
        hidden, vocabulary, tied_to=None, name="lm_head", transform=("dense", "layer_norm"), tied_bias=tied
    )
    head = Module(
        "EntityHead",
        (Tensor("bias", (entities,)),),
        named(
            {
                "transform.dense": linear(hidden, width),
                "transform.LayerNorm": layer_norm(width),
                "decoder": linear(width, entities, bias=False, tied_to=shared),
            }
        ),
        part="head",
    )
    return {"lm_head": words, "entity_predictions": head}


def build(config: ModelConfig) -> Module:
    kind, head = config.model_type, head_name(config.architecture)
    prefix = PREFIXES.get(kind, "roberta")
    pooled: tuple[str, ...] = ("Model", "ForMultipleChoice")
    if kind == "luke" and head in LANGUAGE_MODELS:
        return with_encoder_head(
            config,
            partial(backbone, config),
            prefix=prefix,
            hidden=config.integer("hidden_size"),
            language_model=partial(entity_model, config),
            pooled=("ForMaskedLM",),
        )
    return with_encoder_head(
        config,
        partial(backbone, config),
        prefix=prefix,
        hidden=config.integer("hidden_size"),
        language_model=None if kind in ("lilt", "markuplm") else partial(language_model, config, prefix),
        classifier="pooled" if kind in ("luke", "markuplm") else "dense",
        pooled=(*pooled, "ForSequenceClassification") if kind in ("luke", "markuplm") else pooled,
    )
