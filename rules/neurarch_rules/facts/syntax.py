"""Syntax problems of a document as findings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from neurarch_rules.engine.finding import Finding, Fix, Place, Related

if TYPE_CHECKING:
    from neurarch_rules.engine.context import Context
    from neurarch_schemas.documents.document import FileKind, SyntaxProblem, SyntaxRule

JSON_KINDS: tuple[FileKind, ...] = ("config", "generation_config", "adapter_config", "params", "index")


def findings(
    context: Context,
    rule: SyntaxRule,
    fixes: Callable[[Context, SyntaxProblem], tuple[Fix, ...]] = lambda *_: (),
    related: str = "",
    tail: str = "",
) -> Iterator[Finding]:
    """One finding for each problem of a rule; ``tail`` says why it matters, ``related`` what the other place is."""
    for problem in context.analysis.document.problems:
        if problem.rule != rule:
            continue
        others = (Related(Place(problem.pointer, problem.related), related),) if problem.related and related else ()
        yield Finding(problem.message + tail, Place(problem.pointer, problem.span), others, fixes(context, problem))
