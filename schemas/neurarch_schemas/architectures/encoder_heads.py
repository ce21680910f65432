"""The heads of text encoders: masked-language-model heads and the classification heads shared by BERT's descendants."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

from neurarch_schemas.architectures.language_heads import head_name, label_count, unknown_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.layers import layer_norm, linear
from neurarch_schemas.modules.tree import Module, Stack, Tensor, named

LANGUAGE_MODELS = ("ForMaskedLM", "ForCausalLM", "LMHeadModel", "Decoder")


def vocabulary_projection(width: int, vocabulary: int, *, weight: str | None, bias: str | None = None) -> Module:
    """Logits with a bias; ``weight`` and ``bias`` name the tensors whose storage a tied projection shares."""
    return Module(
        "Linear",
        (Tensor("weight", (vocabulary, width), tied_to=weight), Tensor("bias", (vocabulary,), tied_to=bias)),
        part="head",
        multiply_accumulates=width * vocabulary,
        width_in=width,
        width_out=vocabulary,
    )


def masked_lm_head(
    hidden: int,
    vocabulary: int,
    *,
    tied_to: str | None,
    name: str,
    width: int | None = None,
    transform: tuple[str, str] | None,
    own_bias: bool = True,
    tied_bias: bool | None = None,
) -> Module:
    """Dense, norm and projection to the vocabulary, with an output bias beside the (tied) projection.

    ``width`` is that of the projection (default ``hidden``), ``transform`` the names of dense layer and norm,
    ``name`` the full name of this module: a projection with ``tied_bias`` (default: when tied) shares ``name.bias``.
    """
    width = hidden if width is None else width
    dense, norm = transform or ("", "")
    children: dict[str, Module | Stack | None] = {}
    if transform:
        children[dense] = linear(hidden, width)
        children[norm] = layer_norm(width)
    shares_bias = own_bias and (tied_to is not None if tied_bias is None else tied_bias)
    bias = f"{name}.bias" if shares_bias else None
    children["decoder"] = vocabulary_projection(width, vocabulary, weight=tied_to, bias=bias)
    tensors = (Tensor("bias", (vocabulary,)),) if own_bias else ()
    return Module("MaskedLMHead", tensors, named(children), part="head", width_in=hidden, width_out=vocabulary)


def dense_classifier(
    hidden: int, labels: int, *, names: tuple[str, str] = ("dense", "out_proj"), inputs: int | None = None
) -> Module:
    """A dense layer from ``inputs`` (default ``hidden``), an activation, a linear map to the labels."""
    first, second = names
    width = hidden if inputs is None else inputs
    children = {first: linear(width, hidden), second: linear(hidden, labels)}
    return Module("ClassificationHead", children=named(children), part="head", width_in=width, width_out=labels)


def with_encoder_head(
    config: ModelConfig,
    backbone: Callable[[bool], Module],
    *,
    prefix: str,
    hidden: int,
    language_model: Callable[[], Mapping[str, Module]] | None = None,
    classifier: Literal["pooled", "dense", "projection"] = "pooled",
    pooled: tuple[str, ...] = ("Model", "ForPreTraining", "ForNextSentencePrediction", "ForMultipleChoice"),
    multiple_choice_labels: int = 1,
    multiple_choice_dense: bool = False,
    answers: int | None = None,
) -> Module:
    """The class named by ``config.architecture``. ``backbone(pooler)`` builds the encoder with or without its pooler.

    ``language_model`` gives the children of the masked (or causal) head. ``classifier``: a linear map of the pooled
    output, RoBERTa's dense + out_proj without a pooler, or a linear map without a pooler. ``pooled`` lists the heads
    whose class keeps the pooler; ``multiple_choice_dense`` puts a dense layer before the score of a choice;
    ``answers`` is the number of scores a token gets in question answering, where the class fixes it (default: labels).
    """
    head = head_name(config.architecture)
    keep_pooler = head in pooled or (head == "ForSequenceClassification" and classifier == "pooled")
    encoder = backbone(keep_pooler)
    if head in ("Model", "Encoder"):
        return encoder
    children: dict[str, Module | Stack | None] = {prefix: encoder}
    if head in LANGUAGE_MODELS and language_model is not None:
        children.update(language_model())
    elif head == "ForPreTraining" and language_model is not None:
        children.update(language_model())
        children["cls.seq_relationship"] = linear(hidden, 2, part="head")
    elif head == "ForNextSentencePrediction":
        children["cls.seq_relationship"] = linear(hidden, 2, part="head")
    elif head == "ForSequenceClassification" and classifier == "dense":
        children["classifier"] = dense_classifier(hidden, label_count(config))
    elif head in ("ForSequenceClassification", "ForTokenClassification"):
        children["classifier"] = linear(hidden, label_count(config), part="head")
    elif head == "ForMultipleChoice":
        if multiple_choice_dense:
            children["pre_classifier"] = linear(hidden, hidden, part="head")
        children["classifier"] = linear(hidden, multiple_choice_labels, part="head")
    elif head == "ForQuestionAnswering":
        children["qa_outputs"] = linear(hidden, label_count(config) if answers is None else answers, part="head")
    else:
        raise unknown_head(config.architecture)
    return Module(config.architecture, children=named(children))
