from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Place, Related
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.defaults import are_defaults
from neurarch_rules.facts.places import written
from neurarch_schemas.config.language_model import LANGUAGE_MODELS

RULE = RuleInfo(
    name="tie-nested-conflict",
    severity="warning",
    category="correctness",
    summary="tie_word_embeddings is given at two levels with different values",
    needs=("tie_word_embeddings",),
)


def check(context: Context) -> Iterator[Finding]:
    config = context.analysis.config
    if config is None or not config.is_native:
        return
    outer = written(context.analysis, config).get("tie_word_embeddings")
    for key, nested in config.nested.items():
        if key not in LANGUAGE_MODELS:
            continue  # a decoder with a class of its own ties its own embeddings
        inner = written(context.analysis, nested).get("tie_word_embeddings")
        effective = config.get("tie_word_embeddings")
        if outer is None and isinstance(effective, bool) and isinstance(inner, bool) and effective != inner:
            yield Finding(
                f"tie_word_embeddings {str(inner).lower()} in {key} is not what counts: transformers 5 reads the "
                "outer one, "
                f"which is {str(effective).lower()} by default",
                Place("/tie_word_embeddings"),
                (Related(Place(f"{nested.pointer}/tie_word_embeddings"), f"{key} says {str(inner).lower()}"),),
            )
        are_chosen = not (are_defaults(config, "tie_word_embeddings") and are_defaults(nested, "tie_word_embeddings"))
        if isinstance(outer, bool) and isinstance(inner, bool) and outer != inner:
            shown = str(outer).lower()
            yield Finding(
                f"tie_word_embeddings is {shown} here and {str(inner).lower()} in {key}: transformers 5 follows the "
                "outer one "
                "for the whole model, older releases and other engines the inner one",
                Place("/tie_word_embeddings"),
                (Related(Place(f"{nested.pointer}/tie_word_embeddings"), f"{key} says {str(inner).lower()}"),),
                severity=None if are_chosen else "info",
            )
