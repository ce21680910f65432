from __future__ import annotations

import ast
from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.python_file import (
    ClassFacts,
    FunctionNode,
    assignments,
    first_argument,
    is_attribute_of,
    nodes,
    python_file,
)

RULE = RuleInfo(
    name="module-before-super-init",
    severity="error",
    category="correctness",
    summary="A module or parameter is assigned although super().__init__() has not run",
    reads=("python",),
    needs=("__init__",),
)


def check(context: Context) -> Iterator[Finding]:
    for found in python_file(context).modules:
        method = found.methods.get("__init__")
        if method is None or not found.is_closed or _is_dataclass(found):
            continue
        first = _initialized(found, method)
        for node in nodes(method):
            for target, value in assignments(node):
                if not is_attribute_of(target, first_argument(method)) or value is None:
                    continue
                if not _is_module(found, method, value) or (first is not None and node.lineno >= first.lineno):  # type: ignore[attr-defined]  # assignments have lines
                    continue
                yield _finding(found, target, first)
                break
            else:
                continue
            break


def _initialized(found: ClassFacts, method: FunctionNode) -> ast.Call | None:
    """The first call that may run ``torch.nn.Module.__init__``."""
    for node in sorted((item for item in nodes(method) if isinstance(item, ast.Call)), key=lambda item: item.lineno):
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr in ("__init__", "__post_init__", "__setstate__"):
            return node
        if isinstance(function, ast.Name) and function.id == "super":
            return node
        if isinstance(function, ast.Attribute) and is_attribute_of(function, first_argument(method)):
            helper = found.method(function.attr)
            if helper is not None and any(
                isinstance(item, ast.Attribute) and item.attr == "__init__" for item in nodes(helper[1])
            ):
                return node
    return None


def _is_dataclass(found: ClassFacts) -> bool:
    return bool(found.node.decorator_list)


def _is_module(found: ClassFacts, method: FunctionNode, value: ast.expr) -> bool:
    if found.file.makes_module(value):
        return True
    if isinstance(value, ast.Call) and found.file.qualified(value.func) == "torch.nn.Parameter":
        return True
    if isinstance(value, ast.Name):
        for item in (*method.args.args, *method.args.kwonlyargs):
            if item.arg == value.id and item.annotation is not None:
                return found.file.qualified(item.annotation) == "torch.nn.Module"
    return False


def _finding(found: ClassFacts, target: ast.expr, first: ast.Call | None) -> Finding:
    site = found.site(target)
    shown = ast.unparse(target)
    advice = "call it first" if first is not None else "it is never called: make it the first line of __init__"
    return Finding(
        f"{shown} is assigned before super().__init__() has made the registries of the module "
        f'("cannot assign module before Module.__init__() call"); {advice}',
        site.place,
        () if first is None else (found.site(first).related("called only here"),),
    )
