"""The heads that transformers puts on a language-model backbone, by the class name in ``architectures``."""

from __future__ import annotations

import re

from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import lm_head
from neurarch_schemas.modules.layers import linear
from neurarch_schemas.modules.tree import Module, named

_HEAD = re.compile(r"(For[A-Z]\w*|LMHeadModel|DoubleHeadsModel|Backbone|Model|Decoder|Encoder)$")


def head_name(architecture: str) -> str:
    """The class name without its family: "ForCausalLM" of LlamaForCausalLM, "Model" of LlamaModel."""
    found = _HEAD.search(architecture)
    return found.group(1) if found else architecture


def unknown_head(architecture: str) -> CannotBuild:
    """Why a class whose head is none of the family's is not built."""
    return CannotBuild(f"the head of class {architecture} is not known", ("architectures",))


DEFAULT_LABELS = {"bart": 3, "openai_privacy_filter": 33, "pvt": 1000}
"""Config classes with labels of their own; all others have two."""


def label_count(config: ModelConfig) -> int:
    """Classes of a classification head: num_labels where it is written, else the length of id2label, else the default.

    The base class sets num_labels last, and another number of labels than id2label has replaces id2label
    (transformers 5.24, ``PreTrainedConfig.__post_init__``). PVT counts by num_labels alone; OpenAI's privacy filter
    takes num_labels out before the base class sees it, for configs without id2label.
    """
    labels, model_type = config.get("id2label"), config.model_type
    written_last = config.is_set("num_labels") and model_type != "openai_privacy_filter"
    if isinstance(labels, dict) and not written_last and model_type != "pvt":
        return len(labels)
    return config.integer("num_labels", DEFAULT_LABELS.get(model_type, 2))


def sequence_summary(config: ModelConfig, hidden: int, classes: int) -> Module:
    """The projection in front of a score of a whole sequence; without ``summary_use_proj`` it holds nothing.

    It is as wide as ``hidden``, or with ``summary_proj_to_labels`` has one output for each of ``classes``.
    """
    if not config.flag("summary_use_proj"):
        return Module("SequenceSummary", part="head")
    width = classes if config.flag("summary_proj_to_labels") and classes > 0 else hidden
    return Module("SequenceSummary", children=named({"summary": linear(hidden, width)}), part="head")


def generic_classifier(config: ModelConfig, hidden: int, head: str) -> Module:
    """The classifier of transformers' generic classes: of the last token without a bias, or of every token."""
    biased = head == "ForTokenClassification" and config.flag("token_classification_bias", True)
    return linear(hidden, label_count(config), biased, part="head")


def with_language_head(
    config: ModelConfig,
    backbone: Module,
    *,
    hidden: int,
    prefix: str = "model",
    embedding: str = "embed_tokens.weight",
    head_bias: bool = False,
    tied: bool | None = None,
    question_answering_prefix: str = "transformer",
    output: str = "lm_head",
    vocabulary: int | None = None,
    classifier: str = "score",
) -> Module:
    """The class named by ``config.architecture``: the backbone alone, or with a head beside it.

    ``prefix`` is the backbone's attribute name, ``embedding`` the token table inside it that a tied head shares,
    ``tied`` defaults to ``tie_word_embeddings``. ``output`` and ``classifier`` name the heads of the causal and of the
    token classification class, ``vocabulary`` is the number of logits where that is not ``vocab_size``.
    """
    head = head_name(config.architecture)
    if head == "Model":
        return backbone
    if head in ("ForCausalLM", "LMHeadModel"):
        tied = config.flag("tie_word_embeddings") if tied is None else tied
        shared = f"{prefix}.{embedding}" if tied else None
        top = lm_head(
            hidden, config.integer("vocab_size") if vocabulary is None else vocabulary, tied_to=shared, bias=head_bias
        )
        children = {prefix: backbone, output: top}
    elif head == "ForSequenceClassification":
        children = {prefix: backbone, "score": generic_classifier(config, hidden, head)}
    elif head == "ForTokenClassification":
        children = {prefix: backbone, classifier: generic_classifier(config, hidden, head)}
    elif head == "ForQuestionAnswering":
        children = {question_answering_prefix: backbone, "qa_outputs": linear(hidden, 2, part="head")}
    else:
        raise unknown_head(config.architecture)
    return Module(config.architecture, children=named(children))
