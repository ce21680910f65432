from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Fix
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts import syntax
from neurarch_schemas.documents.document import SyntaxProblem
from neurarch_schemas.documents.json_edits import remove_pair_at

RULE = RuleInfo(
    name="json-duplicate-key",
    severity="warning",
    category="correctness",
    summary="A key is given twice; readers silently keep the last one",
    reads=syntax.JSON_KINDS,
    when="problems",
)


def check(context: Context) -> Iterator[Finding]:
    yield from syntax.findings(
        context, "json-duplicate-key", _fixes, related="first given here: this value is never read"
    )


def _fixes(context: Context, problem: SyntaxProblem) -> tuple[Fix, ...]:
    """Remove the first pair: what is loaded stays the same."""
    if problem.related is None:
        return ()
    edits = remove_pair_at(context.analysis.document, problem.related[0])
    return (Fix("remove the first one, which is never read", "safe", edits),) if edits else ()
