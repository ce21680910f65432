from __future__ import annotations

import ast
from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.python_file import ClassFacts, python_file, self_attribute
from neurarch_rules.facts.python_reach import of_classes
from neurarch_schemas.documents.python_nodes import nodes_of

RULE = RuleInfo(
    name="module-list-called",
    severity="error",
    category="correctness",
    summary="A ModuleList or ModuleDict is called like a layer",
    reads=("python",),
    needs=("ModuleList", "ModuleDict"),
)
CONTAINERS = ("ModuleList", "ModuleDict")


def check(context: Context) -> Iterator[Finding]:
    return of_classes(python_file(context).modules, _of_class)


def _of_class(found: ClassFacts) -> Iterator[Finding]:
    held = {
        name: found.file.layer(values[0])
        for name, values in found.assigned.items()
        if values and all(value is not None and found.file.layer(value) in CONTAINERS for value in values)
        if values[0] is not None
    }
    if not held or found in found.file.derived:
        return
    for method in found.methods.values():
        for call in nodes_of(method, ast.Call):
            kind = held.get(self_attribute(call.func) or "")
            if kind is not None:
                how = "for layer in" if kind == "ModuleList" else "index"
                yield Finding(
                    f"{ast.unparse(call.func)} is a {kind}, which has no forward (NotImplementedError): {how} it, or "
                    "make it an nn.Sequential",
                    found.site(call).place,
                )
