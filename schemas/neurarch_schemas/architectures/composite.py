"""What vision-language and audio-language models share: towers, a projector, a language model, one output head."""

from __future__ import annotations

from neurarch_schemas.architectures import build_nested
from neurarch_schemas.architectures.language_heads import generic_classifier, head_name, unknown_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.documents.json_value import JSONValue
from neurarch_schemas.modules.assembly import in_part, lm_head
from neurarch_schemas.modules.layers import linear
from neurarch_schemas.modules.tree import Module, Part, Stack, Tensor, named

GENERATING = ("ForConditionalGeneration", "ForCausalLM")


def tower(config: ModelConfig, name: str = "vision_config", part: Part = "vision", **changes: JSONValue) -> Module:
    """The encoder a nested config describes, all of it counted under ``part``."""
    return in_part(build_nested(config, name, "Model", **changes), part)


def text_model(config: ModelConfig, name: str = "text_config", **changes: JSONValue) -> Module:
    """The language model without its output head."""
    return build_nested(config, name, "Model", **changes)


def either_tied(config: ModelConfig, text: str = "text_config") -> bool:
    """``tie_word_embeddings`` of the composite or of its text config: some classes take over the latter."""
    return config.flag("tie_word_embeddings") or config.nested_config(text).flag("tie_word_embeddings")


def with_output_head(
    config: ModelConfig,
    parts: dict[str, Module | Stack | None],
    *,
    tensors: tuple[Tensor, ...] = (),
    text: ModelConfig | None = None,
    tied: bool | None = None,
    embedding: str = "language_model.embed_tokens.weight",
    vocabulary: int | None = None,
    prefix: str = "model",
    output: str = "lm_head",
    bias: bool = False,
    heads: tuple[str, ...] = GENERATING,
) -> Module:
    """The backbone of ``parts`` alone, or under ``prefix`` beside an output head over the text vocabulary.

    ``tied`` defaults to the composite's ``tie_word_embeddings``; ``embedding`` is the token table inside the backbone.
    ``heads`` are the classes that exist: generating ones, and those with a generic classifier.
    """
    backbone = Module("Model", tensors, named(parts))
    head = head_name(config.architecture)
    if head == "Model":
        return backbone
    if head not in heads:
        raise unknown_head(config.architecture)
    text = config.nested_config("text_config") if text is None else text
    if head not in GENERATING:
        score = generic_classifier(config, text.integer("hidden_size"), head)
        return Module(config.architecture, children=named({prefix: backbone, "score": score}))
    tied = config.flag("tie_word_embeddings") if tied is None else tied
    top = lm_head(
        text.integer("hidden_size"),
        text.integer("vocab_size") if vocabulary is None else vocabulary,
        tied_to=f"{prefix}.{embedding}" if tied else None,
        bias=bias,
    )
    return Module(config.architecture, children=named({prefix: backbone, output: top}))


def projector(parts: dict[str, Module | Stack | None], *, tensors: tuple[Tensor, ...] = ()) -> Module:
    """What maps the features of a tower to the width of the language model."""
    return in_part(Module("Projector", tensors, named(parts)), "projector")


def two_layer_projector(
    inputs: int,
    outputs: int,
    *,
    bias: bool = True,
    inner: int | None = None,
    names: tuple[str, str] = ("linear_1", "linear_2"),
) -> dict[str, Module | Stack | None]:
    """A linear map to ``inner`` (default ``outputs``), an activation, a linear map to ``outputs``."""
    width = outputs if inner is None else inner
    first, second = names
    return {first: linear(inputs, width, bias), second: linear(width, outputs, bias)}


def feature_layers(config: ModelConfig) -> int:
    """How many layers of the tower are concatenated: ``vision_feature_layer`` is a number or a list of them."""
    value = config.get("vision_feature_layer")
    return len(value) if isinstance(value, list) else 1
