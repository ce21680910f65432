from __future__ import annotations

import ast
from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Fix
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.python_file import PythonFile, argument, python_file

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
            value = _default(file, item.value)
            kind = None if value is None else _mutable(file, value)
            if value is None or kind is None:
                continue
            site = found.site(item.value)
            text = ast.unparse(value)
            empty = text in ("[]", "{}", "list()", "dict()", "set()")
            bare = isinstance(value, ast.Call) and not value.args and not value.keywords
            factory = f"field(default_factory={kind if empty or bare else 'lambda: ' + text})"
            fixes: tuple[Fix, ...] = ()
            if file.imports.get("field") == "dataclasses.field" and value is item.value:
                fixes = (site.replace(factory, f"Use {factory}", "safe"),)
            is_new = kind in file.classes
            when = ", from Python 3.11 on" if is_new else ""
            yield Finding(
                f"a {kind} cannot be the default of a dataclass field (ValueError: mutable default, when the class is "
                f"defined{when}); use {factory}",
                site.place,
                fixes=fixes,
                severity="warning" if is_new else None,
            )


def _default(file: PythonFile, value: ast.expr) -> ast.expr | None:
    """The default itself, also inside ``field(default=...)``."""
    if isinstance(value, ast.Call) and file.qualified(value.func) == "dataclasses.field":
        return argument(value, "default")
    return value


def _mutable(file: PythonFile, value: ast.expr) -> str | None:
    """The type of a value without a hash: a list, dict or set, or an instance of a dataclass that compares by value."""
    kind = MUTABLE.get(type(value))
    if kind is not None or not isinstance(value, ast.Call) or not isinstance(value.func, ast.Name):
        return kind
    if value.func.id in ("list", "dict", "set"):
        return value.func.id
    made = file.classes.get(value.func.id)
    if made is None or made.node.bases or "__hash__" in made.methods or len(made.node.decorator_list) != 1:
        return None
    decorator = made.node.decorator_list[0]
    options = decorator.keywords if isinstance(decorator, ast.Call) else []
    name = file.qualified(decorator.func if isinstance(decorator, ast.Call) else decorator)
    hashable = any(option.arg in ("frozen", "eq", "unsafe_hash", None) for option in options)
    return made.name if name == "dataclasses.dataclass" and not hashable else None
