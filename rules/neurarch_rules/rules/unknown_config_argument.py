from __future__ import annotations

import ast
from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Fix
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.data import fact_set
from neurarch_rules.facts.python_file import Site, python_file
from neurarch_rules.facts.spelling import closest

RULE = RuleInfo(
    name="unknown-config-argument",
    severity="error",
    category="correctness",
    summary="LoraConfig is given a keyword it does not have",
    reads=("python",),
    needs=("LoraConfig",),
)


def check(context: Context) -> Iterator[Finding]:
    file = python_file(context)
    known = fact_set("adapter_keys", "since")
    for placed, call in file.calls("LoraConfig"):
        if file.qualified(call.func) not in ("peft.LoraConfig", "peft.tuners.lora.LoraConfig"):
            continue
        for keyword in call.keywords:
            if keyword.arg is None or keyword.arg in known:
                continue
            near = closest(keyword.arg, sorted(known))
            site = Site(placed, keyword)
            fixes: tuple[Fix, ...] = ()
            if near is not None:
                value = ast.unparse(keyword.value)
                fixes = (site.replace(f"{near}={value}", f"Rename to {near}", "unsafe"),)
            yield Finding(
                f"LoraConfig has no argument {keyword.arg} (TypeError: unexpected keyword argument)"
                + (f"; did you mean {near}?" if near else "; remove it"),
                site.place,
                fixes=fixes,
            )
