"""BERT and the post-norm encoders that keep its layout, with its masked-language-model head ``cls.predictions``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from neurarch_schemas.architectures.encoder_heads import masked_lm_head, vocabulary_projection, with_encoder_head
from neurarch_schemas.architectures.language_heads import head_name
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.encoder import bert_embeddings, bert_layer
from neurarch_schemas.modules.layers import embedding, layer_norm, linear, position_embedding
from neurarch_schemas.modules.tree import Module, Stack, Tensor, named, stack

MODEL_TYPES = ("bert", "ernie", "layoutlm", "big_bird", "roc_bert", "megatron-bert", "bert-generation", "fnet")

PREFIXES = {"bert": "bert", "big_bird": "bert", "megatron-bert": "bert", "bert-generation": "bert"}
"""Where the backbone's attribute is not the model type."""


def pooler(hidden: int) -> Module:
    return Module("Pooler", children=named({"dense": linear(hidden, hidden)}), part="head")


def layer(config: ModelConfig) -> Module:
    """megatron-bert normalizes before its blocks (``ln``); big_bird's ``use_bias`` is that of query, key and value."""
    hidden = config.integer("hidden_size")
    pre_norm = config.model_type == "megatron-bert"
    return bert_layer(
        hidden,
        config.integer("num_attention_heads"),
        config.integer("intermediate_size"),
        bias=config.model_type != "big_bird" or config.flag("use_bias"),
        decoder=config.flag("is_decoder"),
        cross=config.flag("add_cross_attention"),
        attention_norm="ln" if pre_norm else "output.LayerNorm",
        feed_forward_norm="ln" if pre_norm else "output.LayerNorm",
    )


def fourier_layer(config: ModelConfig) -> Module:
    """FNet (arXiv:2105.03824) mixes tokens by a Fourier transform: no parameters but the norm."""
    hidden, intermediate = config.integer("hidden_size"), config.integer("intermediate_size")
    return Module(
        "FourierLayer",
        children=named(
            {
                "fourier.output.LayerNorm": layer_norm(hidden),
                "intermediate.dense": linear(hidden, intermediate).with_(part="feed-forward"),
                "output.dense": linear(intermediate, hidden).with_(part="feed-forward"),
                "output.LayerNorm": layer_norm(hidden),
            }
        ),
    )


def embeddings(config: ModelConfig) -> Module:
    hidden, extra = config.integer("hidden_size"), dict[str, Module | Stack | None]()
    kind = config.model_type
    if kind == "ernie" and config.flag("use_task_id"):
        extra["task_type_embeddings"] = embedding(config.integer("task_type_vocab_size"), hidden)
    if kind == "layoutlm":
        for axis in "xyhw":
            extra[f"{axis}_position_embeddings"] = position_embedding(
                config.integer("max_2d_position_embeddings"), hidden
            )
    if kind == "fnet":
        extra["projection"] = linear(hidden, hidden)
    if kind == "roc_bert":
        sound, shape = config.integer("pronunciation_embed_dim"), config.integer("shape_embed_dim")
        extra["pronunciation_embed"] = embedding(config.integer("pronunciation_vocab_size"), sound)
        extra["shape_embed"] = embedding(config.integer("shape_vocab_size"), shape)
        if config.flag("concat_input"):
            width = hidden + sound * config.flag("enable_pronunciation") + shape * config.flag("enable_shape")
            extra["map_inputs_layer"] = linear(width, hidden)
    return bert_embeddings(
        config.integer("vocab_size"),
        hidden,
        positions=config.integer("max_position_embeddings"),
        types=None if kind == "bert-generation" else config.integer("type_vocab_size"),
        norm=kind != "megatron-bert",
        extra=extra,
    )


def backbone(config: ModelConfig, with_pooler: bool) -> Module:
    hidden, kind = config.integer("hidden_size"), config.model_type
    return Module(
        "Model",
        children=named(
            {
                "embeddings": embeddings(config),
                "encoder.layer": stack(
                    fourier_layer(config) if kind == "fnet" else layer(config),
                    times=config.integer("num_hidden_layers"),
                ),
                "encoder.ln": layer_norm(hidden) if kind == "megatron-bert" else None,
                "pooler": _pooler(config, hidden) if with_pooler and kind != "bert-generation" else None,
            }
        ),
    )


def _pooler(config: ModelConfig, hidden: int) -> Module:
    return linear(hidden, hidden, part="head") if config.model_type == "big_bird" else pooler(hidden)


def language_model(config: ModelConfig, prefix: str) -> Mapping[str, Module]:
    hidden, vocabulary = config.integer("hidden_size"), config.integer("vocab_size")
    tied_to = f"{prefix}.embeddings.word_embeddings.weight" if config.flag("tie_word_embeddings") else None
    if config.model_type == "bert-generation":
        bias = "lm_head.bias" if tied_to else None
        projection = vocabulary_projection(hidden, vocabulary, weight=tied_to, bias=bias)
        own = (Tensor("bias", (vocabulary,)),)
        return {"lm_head": Module("LMHead", own, named({"decoder": projection}), part="head")}
    head = masked_lm_head(
        hidden,
        vocabulary,
        tied_to=tied_to,
        name="cls.predictions",
        transform=("transform.dense", "transform.LayerNorm"),
    )
    return {"cls.predictions": head}


def question_answering(config: ModelConfig) -> Module:
    """BigBird's own: one more feed-forward block in front of the two scores of a token."""
    hidden, inner = config.integer("hidden_size"), config.integer("intermediate_size")
    block = {"intermediate.dense": linear(hidden, inner), "output.dense": linear(inner, hidden)}
    top = {**block, "output.LayerNorm": layer_norm(hidden), "qa_outputs": linear(hidden, 2)}
    answer = Module("QuestionAnsweringHead", children=named({**top}), part="head")
    parts = {"bert": backbone(config, with_pooler=False), "qa_classifier": answer}
    return Module(config.architecture, children=named(parts))


def build(config: ModelConfig) -> Module:
    """The pooler stands in the bare model and in heads that read the pooled output; three types keep it more often."""
    kind = config.model_type
    prefix = PREFIXES.get(kind, kind)
    head = head_name(config.architecture)
    if kind == "roc_bert" and head == "ForPreTraining":  # without a prediction of the next sentence
        parts = {prefix: backbone(config, with_pooler=True), **language_model(config, prefix)}
        return Module(config.architecture, children=named(parts))
    if kind == "big_bird" and head == "ForQuestionAnswering":
        return question_answering(config)
    pooled = ["Model", "ForPreTraining", "ForNextSentencePrediction", "ForMultipleChoice"]
    if kind in ("big_bird", "layoutlm", "fnet"):
        pooled += ["ForMaskedLM", "ForCausalLM", "ForTokenClassification", "ForQuestionAnswering"]
    if kind == "big_bird":
        pooled.append("ForSequenceClassification")
    return with_encoder_head(
        config,
        partial(backbone, config),
        prefix=prefix,
        hidden=config.integer("hidden_size"),
        language_model=partial(language_model, config, prefix),
        classifier="dense" if kind == "big_bird" else "pooled",
        pooled=tuple(pooled),
    )
