"""Plain containers (list, tuple, set, dict) of modules and parameters made on the spot."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from neurarch_rules.facts.python_file import FunctionNode, PythonFile, argument, assigning, assignments, loads
from neurarch_schemas.documents.python_nodes import nodes

ADDING = ("append", "extend", "insert", "add", "appendleft", "setdefault")
PLAIN_CALLS = {"list": "list", "tuple": "tuple", "set": "set", "dict": "dict"}
OF_COLLECTIONS = {
    "collections.OrderedDict": "dict",
    "collections.defaultdict": "dict",
    "collections.deque": "list",
}


def container(file: PythonFile, value: ast.expr, method: FunctionNode) -> str | None:
    """The kind of plain container whose items are modules made right here; ``method`` is where local names live."""
    kind: str | None = None
    items: Sequence[ast.expr] = ()
    if isinstance(value, ast.List | ast.Tuple | ast.Set):
        kind, items = type(value).__name__.lower(), value.elts
    elif isinstance(value, ast.ListComp | ast.SetComp):
        kind, items = ("list" if isinstance(value, ast.ListComp) else "set"), [value.elt]
    elif isinstance(value, ast.DictComp):
        kind, items = "dict", [value.value]
    elif isinstance(value, ast.Dict):
        kind, items = "dict", value.values
    elif isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult):
        sides = (value.left, value.right)
        return next((found for side in sides if (found := container(file, side, method)) is not None), None)
    elif isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
        kind, other = container(file, value.left, method), container(file, value.right, method)
        return kind if kind == other else None
    elif isinstance(value, ast.Call):
        return _called(file, value, method)
    return kind if items and any_made(file, items, method) else None


def _called(file: PythonFile, call: ast.Call, method: FunctionNode) -> str | None:
    """``list(... for ...)``, ``dict(a=...)``, ``dict(zip(keys, [...]))``, ``list(map(lambda ...))``."""
    kind = PLAIN_CALLS.get(getattr(call.func, "id", "")) or OF_COLLECTIONS.get(file.qualified(call.func) or "")
    if kind is None:
        return None
    inner = argument(call, "", 0)
    if inner is None:
        named = [keyword.value for keyword in call.keywords if keyword.arg is not None]
        return kind if kind == "dict" and named and any_made(file, named, method) else None
    if isinstance(inner, ast.GeneratorExp):
        return kind if any_made(file, [inner.elt], method) else None
    if isinstance(inner, ast.Call) and getattr(inner.func, "id", "") == "map" and inner.args:
        function = inner.args[0]
        return kind if isinstance(function, ast.Lambda) and any_made(file, [function.body], method) else None
    if isinstance(inner, ast.Call) and getattr(inner.func, "id", "") == "zip" and len(inner.args) == 2:
        return kind if container(file, inner.args[1], method) is not None else None
    return kind if container(file, inner, method) is not None else None


def any_made(file: PythonFile, items: Sequence[ast.expr], method: FunctionNode) -> bool:
    """One of the items surely is a module with parameters that is made on the spot: nothing else can know it."""
    return any(_holds(file, part, method) for item in items for part in _parts(item))


def _parts(item: ast.expr) -> list[ast.expr]:
    """Items of nested lists and pairs, both sides of a choice."""
    if isinstance(item, ast.List | ast.Tuple):
        return [part for each in item.elts for part in _parts(each)]
    if isinstance(item, ast.ListComp):
        return _parts(item.elt)
    if isinstance(item, ast.IfExp):
        return [*_parts(item.body), *_parts(item.orelse)]
    return [item]


def _holds(file: PythonFile, part: ast.expr, method: FunctionNode) -> bool:
    if file.makes_parameters(part) or file.is_parameter(part):
        return True
    if isinstance(part, ast.Name):
        return _is_only_added(file, part, method)
    if isinstance(part, ast.Call) and file.qualified(part.func) in ("copy.deepcopy", "copy.copy") and part.args:
        source = part.args[0]
        return isinstance(source, ast.Name) and (
            _made_here(file, source.id, method) or _is_module(file, source, method)
        )
    return False


def _made_here(file: PythonFile, name: str, method: FunctionNode) -> bool:
    """The only assignment of a local name makes a module with parameters."""
    values = [
        value
        for node in assigning(method)
        for target, value in assignments(node)
        if isinstance(target, ast.Name) and target.id == name
    ]
    return len(values) == 1 and values[0] is not None and file.makes_parameters(values[0])


def _is_only_added(file: PythonFile, part: ast.Name, method: FunctionNode) -> bool:
    """A module made here that nothing but a container receives: its own attributes may be read."""
    if not _made_here(file, part.id, method):
        return False
    read = {id(node.value) for node in nodes(method) if isinstance(node, ast.Attribute)}
    return all(node is part or id(node) in read for node in loads(method, part.id))


def _is_module(file: PythonFile, source: ast.Name, method: FunctionNode) -> bool:
    return any(
        item.arg == source.id and item.annotation is not None and file.qualified(item.annotation) == "torch.nn.Module"
        for item in (*method.args.args, *method.args.kwonlyargs)
    )


def is_empty(file: PythonFile, value: ast.expr) -> str | None:
    """The kind of an empty container."""
    if isinstance(value, ast.List):
        return None if value.elts else "list"
    if isinstance(value, ast.Dict):
        return None if value.keys else "dict"
    if not isinstance(value, ast.Call) or value.keywords:
        return None
    name = file.qualified(value.func) or ""
    if value.args and name != "collections.defaultdict":
        return None
    return PLAIN_CALLS.get(getattr(value.func, "id", "")) or OF_COLLECTIONS.get(name)


def filled(file: PythonFile, method: FunctionNode, is_it: Callable[[ast.expr], bool]) -> int:
    """How often modules made on the spot are added to a container in a method; 0 where anything else is added, or
    nothing that holds parameters."""
    count, holding = 0, 0
    for node in nodes(method):
        added: ast.expr | None = None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ADDING:
            owner: ast.expr = node.func.value
            owner = owner.value if isinstance(owner, ast.Subscript) else owner
            if not is_it(owner):
                continue
            added = node.args[-1] if node.args else None
        elif isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add) and is_it(node.target):
            if container(file, node.value, method) is None:
                return 0
            count, holding = count + 1, holding + 1
            continue
        elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Subscript):
            if not is_it(node.targets[0].value):
                continue
            added = node.value
        else:
            continue
        if added is None:
            return 0
        if container(file, added, method) is not None or any_made(file, [added], method):
            holding += 1
        elif not file.makes_module(added):
            return 0
        count += 1
    return count if holding else 0


def returned_container(file: PythonFile, method: FunctionNode) -> str | None:
    """The kind of plain container of fresh modules that a method surely returns."""
    returns = [node for node in nodes(method) if isinstance(node, ast.Return)]
    if len(returns) != 1 or returns[0].value is None:
        return None
    value = returns[0].value
    if not isinstance(value, ast.Name):
        return container(file, value, method)
    name = value.id
    values = [
        given
        for node in assigning(method)
        for target, given in assignments(node)
        if getattr(target, "id", "") == name and not isinstance(node, ast.AugAssign)
    ]
    if len(values) != 1 or values[0] is None:
        return None
    additions = filled(file, method, lambda node: getattr(node, "id", "") == name)
    reads = [node for node in nodes(method) if isinstance(node, ast.Name) and node.id == name]
    if len(reads) != 2 + additions:
        return None
    kind = is_empty(file, values[0])
    return container(file, values[0], method) if kind is None else (kind if additions else None)
