from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Place
from neurarch_rules.engine.rule import RuleInfo
from neurarch_schemas.documents.python_syntax import python_fault

if TYPE_CHECKING:
    from neurarch_schemas.documents.python_document import PythonDocument

RULE = RuleInfo(
    name="python-syntax",
    severity="error",
    category="correctness",
    summary="Model code that Python cannot read: the broken statement is left out of the check",
    reads=("python",),
)


def check(context: Context) -> Iterator[Finding]:
    fault = python_fault(cast("PythonDocument", context.analysis.document))
    if fault is not None:
        yield Finding(
            f"{fault.reader} cannot read this ({fault.message}): the statement it stands in is left out of the check",
            Place(None, fault.span),
            severity="error" if fault.is_certain else "info",
        )
