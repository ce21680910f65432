from __future__ import annotations

import ast
from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Fix
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.python_file import (
    ClassFacts,
    FunctionNode,
    PythonFile,
    argument,
    assignments,
    nodes,
    python_file,
    self_attribute,
)

RULE = RuleInfo(
    name="module-in-plain-list",
    severity="error",
    category="correctness",
    summary="Modules kept in a plain list, tuple or dict are not registered",
    reads=("python",),
    needs=("nn",),
)

ADDING = ("append", "extend", "insert")


def check(context: Context) -> Iterator[Finding]:
    file = python_file(context)
    for found in file.modules:
        for name, method in found.methods.items():
            if name == "forward":
                continue
            for node in nodes(method):
                for target, value in assignments(node):
                    attribute = self_attribute(target)
                    if attribute is None or value is None:
                        continue
                    if isinstance(value, ast.Name):
                        local = _local(file, method, value.id)
                        if local is not None and not _is_registered(found, attribute):
                            yield _finding(found, attribute, value, local)
                        continue
                    kind = _container(file, value)
                    if kind is not None and not _is_registered(found, attribute):
                        yield _finding(found, attribute, value, kind)
                    elif (
                        _is_empty(value) and _is_filled(file, found, attribute) and not _is_registered(found, attribute)
                    ):
                        yield _finding(found, attribute, value, "dict" if isinstance(value, ast.Dict) else "list")


def _local(file: PythonFile, method: FunctionNode, name: str) -> str | None:
    """The kind of a local container of modules made in this method, which nothing else receives."""
    values = [
        value for node in nodes(method) for target, value in assignments(node) if getattr(target, "id", "") == name
    ]
    if len(values) != 1 or values[0] is None:
        return None
    reads = [node for node in nodes(method) if isinstance(node, ast.Name) and node.id == name]
    filled = 0
    for node in nodes(method):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ADDING:
            if getattr(node.func.value, "id", "") != name:
                continue
            if not node.args or not file.makes_parameters(node.args[-1]):
                return None
            filled += 1
    # the assignment, each addition, and the one that keeps the list on self
    if len(reads) != 2 + filled:
        return None
    return _container(file, values[0]) or ("list" if filled and _is_empty(values[0]) else None)


def _container(file: PythonFile, value: ast.expr) -> str | None:
    """The kind of plain container whose items are modules made right here."""
    if isinstance(value, ast.List | ast.Tuple):
        items = value.elts
        return ("list" if isinstance(value, ast.List) else "tuple") if _all_made(file, items) else None
    if isinstance(value, ast.ListComp):
        return "list" if _all_made(file, [value.elt]) else None
    if isinstance(value, ast.DictComp):
        return "dict" if _all_made(file, [value.value]) else None
    if isinstance(value, ast.Dict):
        return "dict" if _all_made(file, value.values) else None
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult):
        return _container(file, value.left)
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in ("list", "tuple"):
        inner = argument(value, "", 0)
        return value.func.id if isinstance(inner, ast.GeneratorExp) and _all_made(file, [inner.elt]) else None
    return None


def _all_made(file: PythonFile, items: list[ast.expr]) -> bool:
    return any(file.makes_parameters(item) for item in items) and all(file.makes_module(item) for item in items)


def _is_empty(value: ast.expr) -> bool:
    if isinstance(value, ast.List):
        return not value.elts
    if isinstance(value, ast.Dict):
        return not value.keys
    return (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Name)
        and value.func.id in ("list", "dict")
        and not value.args
        and not value.keywords
    )


def _is_filled(file: PythonFile, found: ClassFacts, attribute: str) -> bool:
    """``self.x.append(Layer())`` or ``self.x[key] = Layer()`` somewhere in the class."""
    for node in nodes(found.node):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ADDING:
            is_this = self_attribute(node.func.value) == attribute
            if is_this and node.args and file.makes_parameters(node.args[-1]):
                return True
        for target, value in assignments(node):
            if isinstance(target, ast.Subscript) and self_attribute(target.value) == attribute and value is not None:
                return file.makes_parameters(value)
    return False


def _is_registered(found: ClassFacts, attribute: str) -> bool:
    """The container is given to something that may register it, or its items are registered one by one."""
    registering = ("add_module", "register_module", "setattr", "__setattr__")
    for node in nodes(found.node):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in registering:
                return True
            reads = (item for item in (*node.args, *(keyword.value for keyword in node.keywords)))
            for item in reads:
                inner = item.value if isinstance(item, ast.Starred) else item
                if self_attribute(inner) == attribute and name not in (
                    "len",
                    "zip",
                    "enumerate",
                    "range",
                    "reversed",
                    "iter",
                ):
                    return True
                if any(self_attribute(part) == attribute for part in nodes(inner)) and name in (
                    "ModuleList",
                    "ModuleDict",
                    "Sequential",
                ):
                    return True
        for target, value in assignments(node):
            if self_attribute(target) == attribute and value is not None and isinstance(value, ast.Call):
                function = value.func
                if (function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")) not in (
                    "list",
                    "dict",
                    "tuple",
                ):
                    return True
    return False


def _finding(found: ClassFacts, attribute: str, value: ast.expr, kind: str) -> Finding:
    site = found.site(value)
    wrapper = "nn.ModuleDict" if kind == "dict" else "nn.ModuleList"
    fixes: tuple[Fix, ...] = ()
    if found.file.imports.get("nn") == "torch.nn" and not _is_empty(value) and kind in ("list", "tuple", "dict"):
        source = found.file.text[site.span[0] : site.span[1]]
        fixes = (site.replace(f"{wrapper}({source})", f"Wrap in {wrapper}", "unsafe"),)
    return Finding(
        f"self.{attribute} is a plain {kind}: its modules are not registered, so their parameters are not in "
        f"parameters() (never trained), not in state_dict() (never saved) and not moved by .to(); use {wrapper}",
        site.place,
        fixes=fixes,
    )
