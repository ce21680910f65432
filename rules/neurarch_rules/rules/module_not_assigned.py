from __future__ import annotations

import ast
from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Fix
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.python_file import (
    ClassFacts,
    FunctionNode,
    first_argument,
    is_attribute_of,
    loads,
    python_file,
)
from neurarch_rules.facts.python_reach import of_classes
from neurarch_schemas.documents.python_nodes import nodes, nodes_of

RULE = RuleInfo(
    name="module-not-assigned",
    severity="error",
    category="correctness",
    summary="A layer is made in __init__ and bound to a local variable nothing reads",
    reads=("python",),
    needs=("nn",),
)


def check(context: Context) -> Iterator[Finding]:
    return of_classes(python_file(context).modules, _of_class)


def _of_class(found: ClassFacts) -> Iterator[Finding]:
    method = found.methods.get("__init__")
    if method is None or any(map(_reads_locals, nodes_of(method, ast.Call))):
        return
    own = first_argument(method)
    for statement in nodes_of(method, ast.Expr):
        yield from _thrown_away(found, own, statement)
    for annotated in nodes_of(method, ast.AnnAssign):
        yield from _only_annotated(found, own, annotated)
    for node in nodes_of(method, ast.Assign):
        if len(node.targets) != 1 or not isinstance(node.targets[0], ast.Name):
            continue
        name = node.targets[0].id
        if name.startswith("_") or not _is_lost(found, method, node.value, name):
            continue
        if any(isinstance(item, ast.Global | ast.Nonlocal) and name in item.names for item in nodes(method)):
            continue
        yield _finding(found, own, node, name)


def _reads_locals(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id in ("locals", "vars", "exec", "eval")


def _is_lost(found: ClassFacts, method: FunctionNode, value: ast.expr, name: str) -> bool:
    """Nothing reads the layer; a list of modules may be appended to."""
    uses = list(loads(method, name))
    if found.file.makes_parameters(value):
        return not uses
    if found.file.layer(value) not in ("ModuleList", "Sequential") or not uses:
        return False
    calls = [node for node in nodes(method) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    added = {
        id(call.func.value): call.args[-1]
        for call in calls
        if isinstance(call.func, ast.Attribute) and call.func.attr in ("append", "insert") and call.args
    }
    return all(id(use) in added for use in uses) and any(
        found.file.makes_parameters(added[id(use)]) for use in uses if id(use) in added
    )


def _thrown_away(found: ClassFacts, own: str, node: ast.Expr) -> Iterator[Finding]:
    """A layer that is a statement of its own, or compared where ``=`` was meant."""
    value = node.value
    if isinstance(value, ast.Compare) and len(value.ops) == 1 and isinstance(value.ops[0], ast.Eq):
        made = value.comparators[0]
        if is_attribute_of(value.left, own) and found.file.makes_parameters(made):
            site, shown = found.site(value), ast.unparse(value.left)
            source = found.file.text
            start, end = found.site(value.left).span[1], found.site(made).span[0]
            yield Finding(
                f"{shown} == ... compares and assigns nothing: the layer is thrown away; write {shown} = ...",
                site.place,
                fixes=(site.replace(f"{shown} = {source[end : site.span[1]]}", "Assign", "unsafe"),)
                if source[start:end].strip() == "=="
                else (),
            )
    elif isinstance(value, ast.Call) and found.file.layer(value) is not None and found.file.makes_parameters(value):
        yield Finding(
            f"{ast.unparse(value.func)} is made and thrown away: a layer has to be assigned to an attribute of "
            f"{own} to belong to the module",
            found.site(value).place,
            severity="warning",
        )


def _only_annotated(found: ClassFacts, own: str, node: ast.AnnAssign) -> Iterator[Finding]:
    """``self.fc: nn.Linear(8, 8)`` where ``=`` was meant."""
    if node.value is None and is_attribute_of(node.target, own) and found.file.makes_parameters(node.annotation):
        shown = ast.unparse(node.target)
        yield Finding(
            f"{shown}: ... is an annotation and assigns nothing: the layer is never made; write {shown} = ...",
            found.site(node).place,
        )


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
    fixes: tuple[Fix, ...] = ()
    if not any(loads(found.methods["__init__"], name)):
        fixes = (site.replace(f"{own}.{meant}", f"Assign to {own}.{meant}", "unsafe"),)
    return Finding(
        f"{name} is a local variable of __init__ and nothing reads it: the layer is not registered and {consequence}; "
        f"assign it to {own}.{meant}",
        site.place,
        (found.site(read).related("read here"),) if missing and read is not None else (),
        fixes,
        severity=None if missing else "warning",
    )
