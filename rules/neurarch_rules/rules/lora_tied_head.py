from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Place, Related
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.adapter import base_file
from neurarch_schemas.config.read import read_config

RULE = RuleInfo(
    name="lora-tied-head",
    severity="warning",
    category="correctness",
    summary="The adapter changes an embedding or head that the base model ties to the other",
    reads=("adapter_config",),
    when="beside",
)

TIED = ("lm_head", "embed_tokens", "wte", "word_embeddings", "embed_in", "embed_out")


def check(context: Context) -> Iterator[Finding]:
    data = context.analysis.document.data
    base = base_file(context.analysis)
    if not isinstance(data, dict) or base is None or data.get("ensure_weight_tying") is True:
        return
    config = read_config(base[1])
    if config.get("tie_word_embeddings") is not True:
        return
    for key in ("target_modules", "modules_to_save"):
        entries = data.get(key)
        if not isinstance(entries, list):
            continue
        named = [
            (at, entry) for at, entry in enumerate(entries) if isinstance(entry, str) and entry.split(".")[-1] in TIED
        ]
        if len(named) != 1:
            continue
        at, entry = named[0]
        other = "the embedding" if entry.endswith(("lm_head", "embed_out")) else "the head"
        yield Finding(
            f"{entry} is tied in the base model: merging the adapter changes {other} as well; untie the base first "
            "or set "
            "ensure_weight_tying (peft 0.18)",
            Place(f"/{key}/{at}"),
            (Related(Place("/tie_word_embeddings", file=base[0]), "tie_word_embeddings is true"),),
        )
