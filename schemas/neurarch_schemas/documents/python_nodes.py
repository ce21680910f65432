"""What stands in a part of Python code, kept with the syntax tree that it describes.

Trees are kept by content (see ``python_units``) and many rules look at the same parts, so each part is walked once.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Final, TypeVar, cast

N = TypeVar("N", bound=ast.AST)
T = TypeVar("T")

_NO_NODES = frozenset(
    (
        "arg", "asname", "attr", "conversion", "ctx", "id", "is_async", "kind", "kwd_attrs", "level", "lineno",
        "module", "op", "ops", "rest", "simple", "tag", "type_comment",
    )
)  # fmt: skip
"""Fields that hold texts, numbers or an operator."""
_EXCEPT: Mapping[str, tuple[str, ...]] = {
    "Constant": ("value",),
    "MatchSingleton": ("value",),
    "Global": ("names",),
    "Nonlocal": ("names",),
}

MUTATING = frozenset(
    ("append", "extend", "insert", "pop", "remove", "clear", "update", "setdefault", "reverse", "sort", "popitem")
)
"""Methods that change a container."""


def _fields(kind: type[ast.AST]) -> tuple[str, ...]:
    left_out = (
        _EXCEPT.get(kind.__name__, ())
        if kind.__name__ == "TypeAlias"
        else (
            "name",
            *_EXCEPT.get(kind.__name__, ()),
        )
    )
    return tuple(name for name in kind._fields if name not in _NO_NODES and name not in left_out)


_FIELDS: Final[Mapping[type[ast.AST], tuple[str, ...]]] = {
    kind: _fields(kind) for kind in vars(ast).values() if isinstance(kind, type) and issubclass(kind, ast.AST)
}
"""For each type of node the fields that hold others."""


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes right below one, operators and contexts (load, store) left out."""
    found: list[ast.AST] = []
    values = node.__dict__  # what is optional and left out stands in the class
    for name in _FIELDS[node.__class__]:
        value = values.get(name)
        if value is None:
            continue
        if value.__class__ is list:
            found += value if None not in value else [item for item in value if item is not None]
        else:
            found.append(value)
    return found


def kept(node: N, compute: Callable[[N], T]) -> T:
    """What a function of a part alone gives, computed once for each part and function; the tree holds it."""
    facts = vars(node).setdefault("_kept", {})
    if compute not in facts:
        facts[compute] = compute(node)
    return cast(T, facts[compute])


def nodes(node: ast.AST) -> tuple[ast.AST, ...]:
    """A node and all below it, outer before inner."""
    return kept(node, _nodes)


def nodes_of(node: ast.AST, kind: type[N]) -> tuple[N, ...]:
    """Of ``nodes`` those of one type."""
    return cast("tuple[N, ...]", kept(node, _by_type).get(kind, ()))


def _nodes(node: ast.AST) -> tuple[ast.AST, ...]:
    found: list[ast.AST] = [node]
    for each in found:
        if _FIELDS[type(each)]:
            found += children(each)
    return tuple(found)


def _by_type(node: ast.AST) -> dict[type[ast.AST], tuple[ast.AST, ...]]:
    found: dict[type[ast.AST], list[ast.AST]] = {}
    for each in nodes(node):
        kind = each.__class__
        if kind in found:
            found[kind].append(each)
        else:
            found[kind] = [each]
    return {kind: tuple(those) for kind, those in found.items()}


def stored(node: ast.AST) -> tuple[str, ...]:
    """Names that a part of the code assigns, or whose containers it changes."""
    return kept(node, _stored)


def _stored(node: ast.AST) -> tuple[str, ...]:
    found: list[str] = []
    found += (each.id for each in nodes_of(node, ast.Name) if isinstance(each.ctx, ast.Store | ast.Del))
    for call in nodes_of(node, ast.Call):
        if isinstance(call.func, ast.Attribute) and call.func.attr in MUTATING:
            found += (part.id for part in nodes_of(call.func.value, ast.Name))
    for item in nodes_of(node, ast.Subscript):
        if isinstance(item.ctx, ast.Store | ast.Del):
            found += (part.id for part in nodes_of(item.value, ast.Name))
    return tuple(found)


__all__ = ["MUTATING", "children", "kept", "nodes", "nodes_of", "stored"]
