"""Post-norm encoders close to BERT: other attention, other embeddings, the same layers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from neurarch_schemas.architectures.bert import pooler
from neurarch_schemas.architectures.encoder_heads import masked_lm_head, with_encoder_head
from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.encoder import bert_embeddings, bert_layer
from neurarch_schemas.modules.layers import convolution, embedding, layer_norm, linear, position_embedding
from neurarch_schemas.modules.tree import Module, Stack, Tensor, named, stack

MODEL_TYPES = ("mra", "yoso", "nystromformer", "tapas", "splinter", "bros", "dpr", "canine")

EFFICIENT = ("mra", "yoso", "nystromformer")
"""Approximations of attention in linear time, with RoBERTa's classification head."""

CLASSIFIERS = ("ForSequenceClassification", "ForTokenClassification", "ForMultipleChoice", "ForQuestionAnswering")

KNOWN_HEADS = {
    **dict.fromkeys(EFFICIENT, ("Model", "ForMaskedLM", *CLASSIFIERS)),
    "tapas": ("Model", "ForMaskedLM", "ForSequenceClassification", "ForQuestionAnswering"),
    "splinter": ("Model", "ForPreTraining", "ForQuestionAnswering"),
    "bros": ("Model", "ForTokenClassification"),
    "canine": ("Model", *CLASSIFIERS),
}


def attention_convolution(config: ModelConfig) -> Module | None:
    """A depth-wise convolution over the values, one kernel a head (nystromformer, and yoso with ``conv_window``)."""
    key = {"nystromformer": "conv_kernel_size", "yoso": "conv_window"}.get(config.model_type)
    if key is None or not config.is_set(key):
        return None
    heads = config.integer("num_attention_heads")
    return convolution(heads, heads, (config.integer(key), 1), bias=False, groups=heads)


def layer(config: ModelConfig) -> Module:
    decoder = config.model_type in ("tapas", "bros", "dpr") and config.flag("is_decoder")
    return bert_layer(
        config.integer("hidden_size"),
        config.integer("num_attention_heads"),
        config.integer("intermediate_size"),
        decoder=decoder,
        cross=decoder and config.flag("add_cross_attention"),
        attention_extra={"self.conv": attention_convolution(config)},
    )


def embeddings(config: ModelConfig) -> Module:
    """tapas has one table for each of ``type_vocab_sizes``; bros and mra store their position indices."""
    hidden, kind, positions = (
        config.integer("hidden_size"),
        config.model_type,
        config.integer("max_position_embeddings"),
    )
    extra: dict[str, Module | Stack | None] = {}
    if kind == "tapas":
        for index, rows in enumerate(config.integers("type_vocab_sizes")):
            # The index is part of the attribute's name, not of a list.
            extra[f"token_type_embeddings_{index}"] = embedding(rows, hidden)
    built = bert_embeddings(
        config.integer("vocab_size"),
        hidden,
        positions=positions + 2 if kind in EFFICIENT else positions,
        types=None if kind == "tapas" else config.integer("type_vocab_size"),
        extra=extra,
    )
    if kind in ("bros", "mra"):
        return built.with_(tensors=(Tensor("position_ids", (1, positions), "buffer"),))
    return built


def box_embeddings(config: ModelConfig) -> Module:
    """BROS: sinusoids of the eight box coordinates, projected to the width of one head."""
    two = config.integer("dim_bbox_sinusoid_emb_2d", config.integer("hidden_size") // 4)
    one = config.integer("dim_bbox_sinusoid_emb_1d", two // config.integer("dim_bbox"))
    head = config.integer("dim_bbox_projection", config.integer("hidden_size") // config.integer("num_attention_heads"))
    frequencies = Module("SinusoidalPositions", (Tensor("inv_freq", (-(-one // 2),), "buffer"),))
    return Module(
        "BoxEmbeddings",
        children=named(
            {
                "bbox_sinusoid_emb.x_pos_emb": frequencies,
                "bbox_sinusoid_emb.y_pos_emb": frequencies,
                "bbox_projection": linear(two, head, bias=False),
            }
        ),
        part="position",
    )


def backbone(config: ModelConfig, with_pooler: bool) -> Module:
    return Module(
        "Model",
        children=named(
            {
                "embeddings": embeddings(config),
                "bbox_embeddings": box_embeddings(config) if config.model_type == "bros" else None,
                "encoder.layer": stack(layer(config), times=config.integer("num_hidden_layers")),
                "pooler": pooler(config.integer("hidden_size")) if with_pooler else None,
            }
        ),
    )


def character_backbone(config: ModelConfig) -> Module:
    """CANINE (arXiv:2103.06874): characters, hashed into several tables, are merged into molecules and split again."""
    hidden, hashes = config.integer("hidden_size"), config.integer("num_hash_functions")
    buckets = config.integer("num_hash_buckets")
    tables: dict[str, Module | Stack | None] = {
        f"HashBucketCodepointEmbedder_{index}": embedding(buckets, hidden // hashes) for index in range(min(hashes, 64))
    }
    if hashes > len(tables):
        raise CannotBuild(f"{hashes} hash functions cannot be listed by name", ("num_hash_functions",))
    tables["char_position_embeddings"] = position_embedding(buckets, hidden)
    tables["token_type_embeddings"] = embedding(config.integer("type_vocab_size"), hidden)
    tables["LayerNorm"] = layer_norm(hidden)
    one = layer(config)

    def merge(inputs: int, kernel: int) -> Module:
        children = {"conv": convolution(inputs, hidden, (kernel,)), "LayerNorm": layer_norm(hidden)}
        return Module("ConvolutionBlock", children=named(children), part="convolution")

    return Module(
        "Model",
        children=named(
            {
                "char_embeddings": Module("CharacterEmbeddings", children=named(tables), part="embedding"),
                "initial_char_encoder.layer": stack(one),
                "chars_to_molecules": merge(hidden, config.integer("downsampling_rate")),
                "encoder.layer": stack(one, times=config.integer("num_hidden_layers")),
                "projection": merge(2 * hidden, config.integer("upsampling_kernel_size")),
                "final_char_encoder.layer": stack(one),
                "pooler": pooler(hidden),
            }
        ),
    )


def language_model(config: ModelConfig) -> Mapping[str, Module]:
    table = f"{config.model_type}.embeddings.word_embeddings.weight" if config.flag("tie_word_embeddings") else None
    names = ("transform.dense", "transform.LayerNorm")
    hidden, vocabulary = config.integer("hidden_size"), config.integer("vocab_size")
    return {
        "cls.predictions": masked_lm_head(hidden, vocabulary, tied_to=table, name="cls.predictions", transform=names)
    }


def passage_encoder(config: ModelConfig) -> Module:
    """DPR: BERT without pooler, and a projection of the first token where ``projection_dim`` is not zero."""
    hidden, width = config.integer("hidden_size"), config.integer("projection_dim")
    name = {"DPRQuestionEncoder": "question_encoder", "DPRContextEncoder": "ctx_encoder"}.get(config.architecture)
    reader = config.architecture == "DPRReader"
    if name is None and not reader:
        raise unknown_head(config.architecture)
    parts: dict[str, Module | Stack | None] = {
        "bert_model": backbone(config, with_pooler=False),
        "encode_proj": linear(hidden, width, part="projector") if width else None,
    }
    encoder = Module("Encoder", children=named(parts))
    if not reader:
        return Module(config.architecture, children=((name or "", encoder),))
    top = {
        "span_predictor.encoder": encoder,
        "span_predictor.qa_outputs": linear(width or hidden, 2, part="head"),
        "span_predictor.qa_classifier": linear(width or hidden, 1, part="head"),
    }
    return Module(config.architecture, children=named(top))


def table_answer(config: ModelConfig) -> Module:
    """TAPAS selects cells and columns by one vector each, and classifies how the cells are aggregated."""
    hidden, ways = config.integer("hidden_size"), config.integer("num_aggregation_labels")
    tensors = (
        Tensor("output_weights", (hidden,)),
        Tensor("column_output_weights", (hidden,)),
        Tensor("output_bias", ()),
        Tensor("column_output_bias", ()),
    )
    parts = {
        "tapas": backbone(config, with_pooler=True),
        "aggregation_classifier": linear(hidden, ways, part="head") if ways > 0 else None,
    }
    return Module(config.architecture, tensors, named(parts))


def span_selection(config: ModelConfig) -> Module:
    """Splinter (arXiv:2101.00438): start and end of an answer are scored against the question's own position."""
    hidden = config.integer("hidden_size")
    transform = Module("Transform", children=named({"dense": linear(hidden, hidden), "LayerNorm": layer_norm(hidden)}))
    names = ("query_start_transform", "query_end_transform", "start_transform", "end_transform")
    score = linear(hidden, hidden, bias=False)
    parts = {**dict.fromkeys(names, transform), "start_classifier": score, "end_classifier": score}
    top = Module("SpanSelectionHead", children=named(parts), part="head")
    return Module(
        config.architecture,
        children=named({"splinter": backbone(config, with_pooler=False), "splinter_qass": top}),
    )


def build(config: ModelConfig) -> Module:
    kind, head = config.model_type, head_name(config.architecture)
    if kind == "dpr":
        return passage_encoder(config)
    if head not in KNOWN_HEADS[kind] or "Spade" in config.architecture:
        raise unknown_head(config.architecture)
    if kind == "tapas" and head == "ForQuestionAnswering":
        return table_answer(config)
    if kind == "splinter" and head != "Model":
        return span_selection(config)
    hidden = config.integer("hidden_size")
    if kind == "canine":
        model = character_backbone(config)
        return with_encoder_head(config, lambda _: model, prefix="canine", hidden=hidden)
    return with_encoder_head(
        config,
        partial(backbone, config),
        prefix=kind,
        hidden=hidden,
        language_model=partial(language_model, config),
        classifier="dense" if kind in EFFICIENT else "pooled",
        pooled={"tapas": ("Model",), "bros": ("Model", "ForTokenClassification")}.get(kind, ()),
        multiple_choice_dense=kind in EFFICIENT,
        answers=2 if kind in EFFICIENT else None,
    )
