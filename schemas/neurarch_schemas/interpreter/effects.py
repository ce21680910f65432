"""What a loop can change, by its text: a loop over data that is not known matters only where it may build something."""

from __future__ import annotations

import ast

_LOOKS = frozenset(
    [
        "all",
        "any",
        "bool",
        "dict",
        "enumerate",
        "float",
        "getattr",
        "hasattr",
        "int",
        "isinstance",
        "len",
        "list",
        "max",
        "min",
        "print",
        "range",
        "repr",
        "reversed",
        "round",
        "set",
        "slice",
        "sorted",
        "str",
        "sum",
        "tuple",
        "type",
        "zip",
    ]
)
"""Functions that change none of their arguments."""
_LIBRARIES = frozenset(["F", "logger", "logging", "math", "np", "numpy", "re", "torch", "warnings"])
_FILLS = frozenset(["add", "append", "clear", "discard", "extend", "insert", "pop", "remove", "setdefault", "update"])
"""Methods of containers that change them."""
_KEEPS = frozenset(
    [
        "add_",
        "copy_",
        "count",
        "dim",
        "endswith",
        "fill_",
        "format",
        "get",
        "index",
        "items",
        "join",
        "keys",
        "mul_",
        "named_buffers",
        "named_parameters",
        "numel",
        "replace",
        "requires_grad_",
        "size",
        "split",
        "startswith",
        "state_dict",
        "strip",
        "values",
        "zero_",
    ]
)
"""Methods, of whatever they are called on, that leave modules and shapes as they are."""
_STATEMENTS = (
    ast.Assert,
    ast.Assign,
    ast.AnnAssign,
    ast.AugAssign,
    ast.Break,
    ast.Continue,
    ast.Delete,
    ast.Expr,
    ast.For,
    ast.If,
    ast.Pass,
    ast.Raise,
)


def fills_only(loop: ast.For | ast.AsyncFor, bound: set[str]) -> frozenset[str] | None:
    """``bound``, the names a loop binds, and those whose containers it fills; None where it may do more than that."""
    filled = set(bound)
    for each in ast.walk(loop):
        if isinstance(each, ast.stmt) and not isinstance(each, _STATEMENTS):
            return None
        if isinstance(each, ast.Attribute | ast.Subscript) and not isinstance(each.ctx, ast.Load):
            root = _root(each)
            if root is None or (root not in bound and not isinstance(getattr(each, "value", None), ast.Name)):
                return None
            if isinstance(each, ast.Attribute) and root not in bound:
                return None
            filled.add(root)
        elif isinstance(each, ast.Call):
            container = _called(each.func, bound)
            if container is None:
                return None
            if container:
                filled.add(container)
    return frozenset(filled)


def _called(function: ast.expr, bound: set[str]) -> str | None:
    """The container a call fills, "" where it fills none; None where it may change anything."""
    if isinstance(function, ast.Name):
        return "" if function.id in _LOOKS else None
    if not isinstance(function, ast.Attribute):
        return None
    root = _root(function)
    if root in bound or root in _LIBRARIES or function.attr in _KEEPS or _is_initializer(function.value):
        return ""
    if function.attr in _FILLS and isinstance(function.value, ast.Name):
        return function.value.id
    return None


def _is_initializer(module: ast.expr) -> bool:
    """``nn.init.normal_(...)`` gives tensors values, which change no shape."""
    return (module.attr if isinstance(module, ast.Attribute) else getattr(module, "id", None)) == "init"


def _root(node: ast.expr) -> str | None:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else None
