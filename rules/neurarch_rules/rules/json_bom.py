from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Fix
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts import syntax
from neurarch_schemas.documents.document import SyntaxProblem, TextEdit

RULE = RuleInfo(
    name="json-bom",
    severity="error",
    category="correctness",
    summary="The file starts with a byte order mark, which JSON loaders refuse",
    reads=syntax.JSON_KINDS,
    when="problems",
)


def check(context: Context) -> Iterator[Finding]:
    yield from syntax.findings(context, "json-bom", _fixes)


def _fixes(_: Context, problem: SyntaxProblem) -> tuple[Fix, ...]:
    return (Fix("remove the byte order mark", "safe", (TextEdit(problem.span, ""),)),)
