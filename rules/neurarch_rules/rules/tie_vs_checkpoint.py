from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Place, Related
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.fixes import set_value
from neurarch_rules.facts.places import is_written, related

RULE = RuleInfo(
    name="tie-vs-checkpoint",
    severity="error",
    category="correctness",
    summary="tie_word_embeddings contradicts the tensors of the checkpoint beside the config",
    aliases=("tie-vs-weights",),
    when="checkpoint",
)

HEADS = (
    "lm_head.weight",
    "embed_out.weight",
    "output.weight",
    "lm_head.qweight",
    "lm_head.weight_packed",
    "lm_head.SCB",
)
EMBEDDINGS = ("embed_tokens.weight", "wte.weight", "embed_in.weight", "word_embeddings.weight", "tok_embeddings.weight")
GENERATING = ("ForCausalLM", "LMHeadModel", "ForConditionalGeneration")


def check(context: Context) -> Iterator[Finding]:
    config, tensors = context.analysis.config, context.analysis.folder.checkpoint
    if config is None or not tensors or not config.architecture.endswith(GENERATING):
        return
    names = [tensor.name for tensor in tensors]
    head = next((name for name in names if name.endswith(HEADS)), None)
    embedding = next((name for name in names if name.endswith(EMBEDDINGS)), None)
    if embedding is None:
        return
    file = _index_file(context)
    tied = config.get("tie_word_embeddings")
    key = Place("/tie_word_embeddings")
    origin = "" if is_written(config, "tie_word_embeddings") else " (the default)"
    if tied is False and head is None and config.is_native:
        yield Finding(
            f"tie_word_embeddings is false{origin}, but the checkpoint has no head tensor (only {embedding}): the "
            "head would "
            "start from random numbers",
            key,
            (Related(Place("", file=file), "no lm_head.weight here"), related(config, "tie_word_embeddings")),
            set_value(context.analysis, "", "tie_word_embeddings", True, "tie_word_embeddings = true", "unsafe"),
        )
    elif tied is True and head is not None:
        yield Finding(
            f"tie_word_embeddings is true{origin}, but the checkpoint holds its own {head}: if the two matrices "
            "differ, one of "
            "them is thrown away on load (transformers 5.8 and later notice)",
            key,
            (Related(Place("", file=file), f"{head} is here"),),
            set_value(context.analysis, "", "tie_word_embeddings", False, "tie_word_embeddings = false", "unsafe"),
            severity="warning",
        )


def _index_file(context: Context) -> str | None:
    names = sorted(context.analysis.folder.listing or ())
    return next((name for name in names if name.endswith((".index.json", ".safetensors"))), None)
