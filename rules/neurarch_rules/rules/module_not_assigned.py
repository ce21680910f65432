from __future__ import annotations

import ast
from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.python_file import ClassFacts, first_argument, is_attribute_of, loads, nodes, python_file

RULE = RuleInfo(
    name="module-not-assigned",
    severity="error",
    category="correctness",
    summary="A layer is made in __init__ and bound to a local variable nothing reads",
    reads=("python",),
    needs=("nn",),
)


def check(context: Context) -> Iterator[Finding]:
    file = python_file(context)
    for found in file.modules:
        method = found.methods.get("__init__")
        if method is None or any(isinstance(node, ast.Call) and _reads_locals(node) for node in nodes(method)):
            continue
        own = first_argument(method)
        for node in nodes(method):
            if not isinstance(node, ast.Assign) or len(node.targets) != 1 or not isinstance(node.targets[0], ast.Name):
                continue
            name = node.targets[0].id
            if name.startswith("_") or not file.makes_parameters(node.value) or any(loads(method, name)):
                continue
            if any(isinstance(item, ast.Global | ast.Nonlocal) and name in item.names for item in nodes(method)):
                continue
            yield _finding(found, own, node, name)


def _reads_locals(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id in ("locals", "vars", "exec", "eval")


def _finding(found: ClassFacts, own: str, node: ast.Assign, name: str) -> Finding:
    meant = next((name[len(prefix) :] for prefix in (f"{own}_", own) if name.startswith(prefix)), name)
    read = next(
        (
            item
            for method in found.methods.values()
            for item in nodes(method)
            if is_attribute_of(item, own)
            and isinstance(item, ast.Attribute)
            and item.attr == meant
            and isinstance(item.ctx, ast.Load)
        ),
        None,
    )
    missing = read is not None and meant not in found.assigned and meant not in found.methods and found.is_closed
    site = found.site(node.targets[0])
    consequence = f"{own}.{meant}, which is read, never exists" if missing else "the layer is thrown away"
    return Finding(
        f"{name} is a local variable of __init__ and nothing reads it: the layer is not registered and {consequence}; "
        f"assign it to {own}.{meant}",
        site.place,
        (found.site(read).related("read here"),) if missing and read is not None else (),
        (site.replace(f"{own}.{meant}", f"Assign to {own}.{meant}", "unsafe"),),
        severity=None if missing else "warning",
    )
