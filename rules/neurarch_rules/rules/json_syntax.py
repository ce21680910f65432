from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Fix, Place
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts import syntax
from neurarch_schemas.documents.document import SyntaxProblem

RULE = RuleInfo(
    name="json-syntax",
    severity="error",
    category="correctness",
    summary="The file is not valid JSON and cannot be loaded",
    reads=syntax.JSON_KINDS,
    when="problems",
)


def check(context: Context) -> Iterator[Finding]:
    yield from syntax.findings(context, "json-syntax", _fixes)
    text = context.analysis.document.text
    if not text.isascii():
        for at, character in enumerate(text):
            if "\udc80" <= character <= "\udcff":
                byte = ord(character) - 0xDC00
                yield Finding(
                    f"byte 0x{byte:02X} is not UTF-8 text: the file cannot be decoded", Place("", (at, at + 1))
                )
                return


def _fixes(_: Context, problem: SyntaxProblem) -> tuple[Fix, ...]:
    if problem.fix is None:
        return ()
    title = "remove it" if not problem.fix.text else f"write {problem.fix.text.strip()}"
    return (Fix(title, "safe", (problem.fix,)),)
