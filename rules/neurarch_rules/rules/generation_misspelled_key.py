from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Place
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.data import fact_set
from neurarch_rules.facts.fixes import rename_key
from neurarch_rules.facts.spelling import closest
from neurarch_schemas.documents.pointer import join_pointer

RULE = RuleInfo(
    name="generation-misspelled-key",
    severity="warning",
    category="correctness",
    summary="An unknown key of a generation or adapter config that is almost a known one",
    reads=("generation_config", "adapter_config"),
)

TABLES = {"generation_config": ("generation", "keys"), "adapter_config": ("adapter_keys", "since")}


def check(context: Context) -> Iterator[Finding]:
    data = context.analysis.document.data
    if not isinstance(data, dict):
        return
    known = fact_set(*TABLES[context.analysis.kind])
    if context.analysis.kind == "adapter_config" and data.get("peft_type", "LORA") != "LORA":
        return
    for key in data:
        if key in known or key.startswith("_"):
            continue
        guess = closest(key, known)
        if guess is None or guess in data:
            continue
        pointer = join_pointer("", key)
        yield Finding(
            f"unknown key {key} (did you mean {guess}?): nothing reads it",
            Place(pointer, on="key"),
            fixes=rename_key(context.analysis, pointer, guess, f"rename to {guess}"),
        )
