"""What one node of Python code sets of a config, and what it merely copies: ``config.__dict__["num_layers"] = 3``."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from neurarch_schemas.documents.pointer import join_pointer
from neurarch_schemas.record import Record

Owners: TypeAlias = Mapping[str, tuple[str, ...]]
"""Dotted names that hold the config, or a part of it, with the keys that lead to that part."""

COPYING = frozenset(("deepcopy", "copy", "vars", "dict", "asdict"))
"""Functions of a config, or of its dict, that give it again."""
COPYING_METHODS = frozenset(("to_dict", "copy", "__copy__", "model_copy"))
ASSIGNING = (ast.Assign, ast.AugAssign, ast.AnnAssign)


class Write(Record):
    """``pointer`` is "" where any key may be set; ``value`` None where it is not one expression."""

    pointer: str
    target: ast.expr
    value: ast.expr | None


def dotted(node: ast.AST) -> str | None:
    """``self.config`` -> "self.config"."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        inner = dotted(node.value)
        return None if inner is None else f"{inner}.{node.attr}"
    return None


def last_name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def located(node: ast.AST, owners: Owners) -> tuple[str, ...] | None:
    """The keys that lead from the config to what an expression gives; () for the config itself or a copy of it."""
    name = dotted(node)
    if name is not None and name in owners:
        return owners[name]
    inner: tuple[str, ...] | None
    if isinstance(node, ast.Attribute):
        inner = located(node.value, owners)
        return inner if inner is None or node.attr == "__dict__" else (*inner, node.attr)
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
        inner = located(node.value, owners)
        return None if inner is None else (*inner, node.slice.value)
    if isinstance(node, ast.Call):
        copied = _copied(node)
        return None if copied is None else located(copied, owners)
    return None


def _copied(call: ast.Call) -> ast.expr | None:
    """What ``deepcopy(x)``, ``x.to_dict()``, ``C.from_dict(x)`` and ``C(**x)`` copy."""
    name = last_name(call.func)
    if name in COPYING_METHODS and isinstance(call.func, ast.Attribute) and not call.args:
        return call.func.value
    if name in COPYING and len(call.args) == 1:
        return call.args[0]
    if name == "from_dict" and call.args:
        return call.args[0]
    stars = [keyword.value for keyword in call.keywords if keyword.arg is None]
    return stars[0] if len(stars) == 1 and not call.args else None


def writes(node: ast.AST, owners: Owners) -> Iterator[Write]:
    """The keys that the node itself sets, the nodes below it aside."""
    if isinstance(node, ASSIGNING):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        value = node.value if isinstance(node, ast.Assign) and len(targets) == 1 else None
        for target in targets:
            if isinstance(target, ast.Tuple | ast.List):
                yield from (each for item in target.elts for each in _set(item, None, owners))
            else:
                yield from _set(target, value, owners)
    elif isinstance(node, ast.Delete):
        yield from (each for target in node.targets for each in _set(target, None, owners))
    elif isinstance(node, ast.Call):
        yield from _set_by_call(node, owners)
    elif isinstance(node, ast.Dict) and _is_spread(node, owners):
        yield from _keyed((), node.keys, node)


def _is_spread(node: ast.Dict, owners: Owners) -> bool:
    """``{**config.to_dict(), "num_layers": 3}``."""
    pairs = zip(node.keys, node.values, strict=True)
    return any(key is None and located(item, owners) is not None for key, item in pairs)


def _set(target: ast.expr, value: ast.expr | None, owners: Owners) -> Iterator[Write]:
    if isinstance(target, ast.Attribute | ast.Subscript) and located(target.value, owners) is not None:
        keys = located(target, owners)
        # A subscript that is no text may be any key of what it is taken of.
        whole = keys if keys is not None else located(target.value, owners)
        if whole is not None and dotted(target) not in owners:
            yield Write(join_pointer("", *whole) if keys is not None else "", target, value)


def _set_by_call(node: ast.Call, owners: Owners) -> Iterator[Write]:
    """``setattr(config, key, ...)``, ``config.update({key: ...})``, ``replace(config, key=...)`` and the like."""
    name = last_name(node.func)
    method_of = located(node.func.value, owners) if isinstance(node.func, ast.Attribute) else None
    first = located(node.args[0], owners) if node.args else None
    if name in ("setattr", "__setattr__", "delattr"):
        keys = first if method_of is None else method_of
        if keys is not None:
            yield from _keyed(keys, node.args[1:2] if method_of is None else node.args[:1], node)
    elif name == "update" and method_of is not None:
        given: list[ast.expr | None] = []
        for item in node.args:
            given += _dict_keys(item)
        for keyword in node.keywords:
            given += [None] if keyword.arg is None else [ast.Constant(keyword.arg)]
        yield from _keyed(method_of, given, node)
    elif name.startswith("update_from") and method_of is not None:
        yield Write("", node, None)
    elif name in ("replace", "from_dict", "evolve") or name[:1].isupper():
        copied = first if name in ("replace", "from_dict", "evolve") else _starred(node, owners)
        if copied is not None and node.keywords:
            named = [ast.Constant(keyword.arg) for keyword in node.keywords if keyword.arg is not None]
            yield from _keyed(copied, named, node)


def _starred(node: ast.Call, owners: Owners) -> tuple[str, ...] | None:
    copied = _copied(node)
    return None if copied is None else located(copied, owners)


def _dict_keys(node: ast.expr) -> list[ast.expr | None]:
    if isinstance(node, ast.Dict):
        return list(node.keys)
    if isinstance(node, ast.Call) and last_name(node.func) == "dict" and not node.args:
        return [None if keyword.arg is None else ast.Constant(keyword.arg) for keyword in node.keywords]
    return [None]


def _keyed(prefix: tuple[str, ...], keys: Sequence[ast.expr | None], node: ast.expr) -> Iterator[Write]:
    for key in keys:
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            yield Write(join_pointer("", *prefix, key.value), node, None)
        elif key is not None or not isinstance(node, ast.Dict):
            yield Write("", node, None)


def aliases(node: ast.AST, owners: Owners) -> dict[str, tuple[str, ...]]:
    """Further names for the config, a part or a copy of it, that an assignment makes."""
    if not isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr) or node.value is None:
        return {}
    keys = located(node.value, owners)
    if keys is None:
        return {}
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return {name: keys for target in targets if (name := dotted(target)) is not None and name not in owners}
