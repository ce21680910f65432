from __future__ import annotations

import ast
from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Fix
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.python_file import python_file

RULE = RuleInfo(
    name="mutable-config-default",
    severity="error",
    category="correctness",
    summary="A dataclass field has a list, dict or set as default, which Python refuses",
    reads=("python",),
    needs=("dataclass",),
)

MUTABLE = {ast.List: "list", ast.Dict: "dict", ast.Set: "set", ast.ListComp: "list", ast.DictComp: "dict"}


def check(context: Context) -> Iterator[Finding]:
    file = python_file(context)
    for found in file.classes.values():
        decorators = [item.func if isinstance(item, ast.Call) else item for item in found.node.decorator_list]
        if not any(file.qualified(item) == "dataclasses.dataclass" for item in decorators):
            continue
        for item in found.node.body:
            if not isinstance(item, ast.AnnAssign) or item.value is None or "ClassVar" in ast.unparse(item.annotation):
                continue
            kind = MUTABLE.get(type(item.value))
            if kind is None and isinstance(item.value, ast.Call) and isinstance(item.value.func, ast.Name):
                kind = item.value.func.id if item.value.func.id in ("list", "dict", "set") else None
            if kind is None:
                continue
            site = found.site(item.value)
            text = ast.unparse(item.value)
            empty = text in ("[]", "{}", "list()", "dict()", "set()")
            factory = f"field(default_factory={kind if empty else 'lambda: ' + text})"
            fixes: tuple[Fix, ...] = ()
            if file.imports.get("field") == "dataclasses.field":
                fixes = (site.replace(factory, f"Use {factory}", "safe"),)
            yield Finding(
                f"a {kind} cannot be the default of a dataclass field (ValueError: mutable default when the class is "
                f"defined); use {factory}",
                site.place,
                fixes=fixes,
            )
