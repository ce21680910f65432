from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts import syntax

RULE = RuleInfo(
    name="json-nonfinite",
    severity="warning",
    category="correctness",
    summary="NaN and Infinity are not JSON; only Python reads them",
    reads=syntax.JSON_KINDS,
    when="problems",
)

TAIL = (
    " (the Hub's viewer, Rust, Go, browsers); Python loads it: write null, a large number or"
    ' {"__float__": "Infinity"} (transformers 5)'
)


def check(context: Context) -> Iterator[Finding]:
    yield from syntax.findings(context, "json-nonfinite", tail=TAIL)
