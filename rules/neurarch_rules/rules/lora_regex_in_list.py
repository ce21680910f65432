from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Fix, Place
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.fixes import replace_value
from neurarch_rules.facts.words import quoted

RULE = RuleInfo(
    name="lora-regex-in-list",
    severity="error",
    category="correctness",
    summary="A regular expression inside a list of module names, where it is compared as plain text",
    reads=("adapter_config",),
    aliases=("lora-target-regex-in-list",),
)

MARKS = ("*", "\\", "^", "$", "(", "|", "[", "+", "?")
KEYS = ("target_modules", "exclude_modules")


def check(context: Context) -> Iterator[Finding]:
    data = context.analysis.document.data
    if not isinstance(data, dict):
        return
    for key in KEYS:
        entries = data.get(key)
        if not isinstance(entries, list):
            continue
        for at, entry in enumerate(entries):
            if not isinstance(entry, str) or not any(mark in entry for mark in MARKS):
                continue
            fixes: tuple[Fix, ...] = ()
            if len(entries) == 1:
                title = "make it the value itself"
                fixes = replace_value(context.analysis, f"/{key}", entry, title, "unsafe")
            yield Finding(
                f"{quoted(entry)} looks like a regular expression, but entries of a list are compared as endings of "
                "module names: "
                f"it matches none; a pattern must be the value of {key} itself",
                Place(f"/{key}/{at}"),
                fixes=fixes,
            )
