from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Fix
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts import syntax
from neurarch_schemas.documents.document import SyntaxProblem, TextEdit

RULE = RuleInfo(
    name="json-comment",
    severity="error",
    category="correctness",
    summary="JSON has no comments: loaders refuse the file",
    reads=syntax.JSON_KINDS,
    when="problems",
)


def check(context: Context) -> Iterator[Finding]:
    yield from syntax.findings(context, "json-comment", _fixes)


def _fixes(context: Context, problem: SyntaxProblem) -> tuple[Fix, ...]:
    """Remove the comment with the blanks before it, and its line when nothing else is on it."""
    text = context.analysis.document.text
    start, end = problem.span
    while start > 0 and text[start - 1] in " \t":
        start -= 1
    at_line_start = start == 0 or text[start - 1] in "\r\n"
    if at_line_start:
        after = end
        while after < len(text) and text[after] in " \t":
            after += 1
        if text.startswith("\r\n", after):
            end = after + 2
        elif text[after : after + 1] in ("\n", "\r"):
            end = after + 1
        else:
            start = problem.span[0]
    return (Fix("remove the comment", "safe", (TextEdit((start, end), ""),)),)
