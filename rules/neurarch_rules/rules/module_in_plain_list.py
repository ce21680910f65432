from __future__ import annotations

import ast
from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Fix
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.python_containers import container, filled, is_empty, returned_container
from neurarch_rules.facts.python_file import (
    ClassFacts,
    FunctionNode,
    assigned_in,
    assignments,
    python_file,
    self_attribute,
)
from neurarch_rules.facts.python_reach import of_classes
from neurarch_schemas.documents.python_nodes import nodes

RULE = RuleInfo(
    name="module-in-plain-list",
    severity="error",
    category="correctness",
    summary="Modules kept in a plain list, tuple or dict are not registered",
    reads=("python",),
    needs=("nn",),
)

REGISTERING = ("add_module", "register_module", "register_parameter", "setattr", "__setattr__")
LOOKING = ("len", "zip", "enumerate", "range", "reversed", "iter")
WRAPPERS = ("ModuleList", "ModuleDict", "Sequential", "ParameterList", "ParameterDict")


def check(context: Context) -> Iterator[Finding]:
    return of_classes(python_file(context).modules, _of_class)


def _of_class(found: ClassFacts) -> Iterator[Finding]:
    for name, method in found.methods.items():
        if name == "forward":
            continue
        for target, value in assigned_in(method):
            attribute = self_attribute(target)
            if attribute is None or value is None:
                continue
            kind = _kept(found, method, attribute, value)
            if kind is not None and not _is_registered(found, attribute, value):
                yield _finding(found, attribute, value, kind)


def _kept(found: ClassFacts, method: FunctionNode, attribute: str, value: ast.expr) -> str | None:
    """The kind of plain container that an attribute surely holds, with modules or parameters made for it."""
    if isinstance(value, ast.Name):
        return _local(found, method, value.id)
    if isinstance(value, ast.Call):
        name = self_attribute(value.func)
        helper = found.methods.get(name) if name is not None else None
        if helper is not None:
            return returned_container(found.file, helper)
    kind = is_empty(found.file, value)
    if kind is None:
        return container(found.file, value, method)
    for each in found.methods.values():
        if filled(found.file, each, lambda node: self_attribute(node) == attribute):
            return kind
    return None


def _local(found: ClassFacts, method: FunctionNode, name: str) -> str | None:
    """The kind of a local container of modules made in this method, which nothing else receives."""
    values = [value for target, value in assigned_in(method) if getattr(target, "id", "") == name]
    made = [value for value in values if value is not None]
    if len(made) != 1 or any(isinstance(node, ast.Delete) for node in nodes(method)):
        return None
    additions = filled(found.file, method, lambda node: getattr(node, "id", "") == name)
    reads = [node for node in nodes(method) if isinstance(node, ast.Name) and node.id == name]
    # the assignment, each addition, and the one that keeps the list on self
    if len(reads) != 2 + additions:
        return None
    kind = is_empty(found.file, made[0])
    return container(found.file, made[0], method) if kind is None else (kind if additions else None)


def _is_registered(found: ClassFacts, attribute: str, kept: ast.expr) -> bool:
    """The container is given to something that may register it, or its items are registered one by one."""
    for node in nodes(found.node):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in REGISTERING:
                return True
            for item in (*node.args, *(keyword.value for keyword in node.keywords)):
                inner = item.value if isinstance(item, ast.Starred) else item
                if self_attribute(inner) == attribute and name not in LOOKING:
                    return True
                if name in WRAPPERS and any(self_attribute(part) == attribute for part in nodes(inner)):
                    return True
        for target, value in assignments(node):
            if self_attribute(target) == attribute and value is not kept and isinstance(value, ast.Call):
                function = value.func
                name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
                if name not in ("list", "dict", "tuple"):
                    return True
    return False


def _finding(found: ClassFacts, attribute: str, value: ast.expr, kind: str) -> Finding:
    site = found.site(value)
    wrapper = "nn.ModuleDict" if kind == "dict" else "nn.ModuleList"
    fixes: tuple[Fix, ...] = ()
    mechanical = isinstance(value, ast.List | ast.Tuple | ast.ListComp | ast.DictComp | ast.Dict | ast.BinOp)
    holds_modules = not any(found.file.is_parameter(node) for node in nodes(value)) and not any(
        isinstance(node, ast.List | ast.Tuple | ast.Set) for node in nodes(value) if node is not value
    )
    if found.file.imports.get("nn") == "torch.nn" and mechanical and holds_modules and not _is_bare(value):
        source = found.file.text[site.span[0] : site.span[1]]
        fixes = (site.replace(f"{wrapper}({source})", f"Wrap in {wrapper}", "unsafe"),)
    return Finding(
        f"self.{attribute} is a plain {kind}: its modules are not registered, so their parameters are not in "
        f"parameters() (never trained), not in state_dict() (never saved) and not moved by .to(); use {wrapper}",
        site.place,
        fixes=fixes,
    )


def _is_bare(value: ast.expr) -> bool:
    return (isinstance(value, ast.List) and not value.elts) or (isinstance(value, ast.Dict) and not value.keys)
