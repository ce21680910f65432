from __future__ import annotations

import ast
from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts import versions
from neurarch_rules.facts.python_file import FunctionNode, Site, assigned_in, python_file, self_attribute

RULE = RuleInfo(
    name="config-super-init-first",
    severity="warning",
    category="correctness",
    summary="A config class repairs a value after super().__init__(), where transformers 5 has already refused it",
    reads=("python",),
    needs=("rainedConfig",),
)


def check(context: Context) -> Iterator[Finding]:
    file = python_file(context)
    if versions.excludes(context, versions.V5):
        return
    for found in file.classes.values():
        method = found.methods.get("__init__")
        if method is None or not any(
            (base or "").endswith(("PretrainedConfig", "PreTrainedConfig")) for base in found.bases
        ):
            continue
        call = _super_call(method)
        for keyword in call.keywords if call is not None else ():
            target = None if call is None or keyword.arg is None else _repaired(method, call, keyword)
            if call is not None and target is not None:
                yield _finding(found.site(call), found.site(target), str(keyword.arg))


def _repaired(method: FunctionNode, call: ast.Call, keyword: ast.keyword) -> ast.expr | None:
    """Where the attribute of the keyword's name is set behind the call, to more than the argument."""
    for target, value in assigned_in(method):
        if self_attribute(target) != keyword.arg or value is None or target.lineno <= call.lineno:
            continue
        if _repairs(value) and ast.unparse(value) != ast.unparse(keyword.value):
            return target
    return None


def _super_call(method: FunctionNode) -> ast.Call | None:
    for statement in method.body:
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            function = statement.value.func
            if isinstance(function, ast.Attribute) and function.attr == "__init__":
                return statement.value
    return None


def _repairs(value: ast.expr) -> bool:
    """More than the plain argument: cropped, computed, replaced."""
    return not isinstance(value, ast.Name)


def _finding(call: Site, target: Site, name: str) -> Finding:
    return Finding(
        f"transformers 5 validates inside super().__init__(), which is given {name} as it came in; the value assigned "
        f"afterwards comes too late and the config is refused; set self.{name} first and call super().__init__() last",
        call.place,
        (target.related("repaired only here"),),
    )
