from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.python_file import ClassFacts, python_file
from neurarch_rules.facts.python_layout import Fault, faults, reads_shape
from neurarch_rules.facts.python_reach import of_classes

RULE = RuleInfo(
    name="heads-not-transposed",
    severity="warning",
    category="correctness",
    summary="Attention heads are split off or merged by a view without the transpose: tokens and heads are mixed",
    reads=("python",),
    needs=("view", "reshape"),
)
WHAT = {
    "split": "a view of ({before}) as ({after}) cuts the sequence into pieces and calls them heads: values of "
    "different tokens are mixed, silently; view as (batch, tokens, heads, width) and transpose(1, 2)",
    "merged": "a view of ({before}) as ({after}) mixes heads and tokens, silently; transpose(1, 2) first",
    "over-heads": "the operands are ({before}): attention runs over the heads of each token instead of over the "
    "tokens, silently; transpose(1, 2) them first",
}


def check(context: Context) -> Iterator[Finding]:
    return of_classes(python_file(context).modules, _of_class)


def _of_class(found: ClassFacts) -> Iterator[Finding]:
    for method in found.methods.values():
        if method.name != "__init__" and reads_shape(method):
            for fault in faults(found, method):
                yield _finding(fault)


def _finding(fault: Fault) -> Finding:
    return Finding(WHAT[fault.kind].format(before=fault.before, after=fault.after), fault.site.place)
