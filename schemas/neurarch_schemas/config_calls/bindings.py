"""Names of a Python file that are bound exactly once: what they hold does not depend on what runs."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from neurarch_schemas.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterable

    from neurarch_schemas.documents.python_units import Placed

HARMLESS = frozenset(("print", "len", "dict", "list", "tuple", "sorted", "pprint", "from_dict", "dump", "dumps"))
"""Functions that leave a list or dict they are given as it is."""
READING = frozenset(("get", "items", "keys", "values", "copy", "index", "count"))
"""Methods of lists and dicts that change nothing."""


class Bound(Record):
    """``value`` is all the name ever holds; where ``shared``, a list, dict or object may be changed in place."""

    placed: Placed
    value: ast.expr
    shared: bool


class Bindings:
    """``damaged`` are the statements that cannot be parsed now: a name they may bind is not certain."""

    def __init__(self, units: Iterable[Placed], damaged: Iterable[str]) -> None:
        self._damaged = tuple(damaged)
        self._bound: dict[str, list[tuple[Placed, ast.expr] | None]] = {}
        self._shared: set[str] = set()
        self._is_open = False
        """Names may be bound that the text does not show: ``exec(open("configurator.py").read())``."""
        for placed in units:
            parents = placed.unit.parents
            self._is_open = self._is_open or binds_unseen(placed)
            for node in parents:
                if isinstance(node, ast.Name):
                    self._add_name(placed, node, parents)
                else:
                    for name in _other_names(node):
                        self._bound.setdefault(name, []).append(None)

    def of(self, name: str) -> Bound | None:
        """What a name is bound to by the only statement of the file that binds it."""
        found = self._bound.get(name, ())
        if len(found) != 1 or found[0] is None or self._is_open:
            return None
        mentioned = re.compile(rf"\b{re.escape(name)}\b")
        damaged = any(mentioned.search(text) for text in self._damaged)
        return Bound(*found[0], damaged or name in self._shared)

    def _add_name(self, placed: Placed, node: ast.Name, parents: dict[ast.AST, ast.AST]) -> None:
        parent = parents.get(node)
        if isinstance(node.ctx, ast.Load):
            if parent is not None and _may_change(node, parent, parents):
                self._shared.add(node.id)
            return
        value: ast.expr | None = None
        if isinstance(parent, ast.Assign):
            value = parent.value if any(target is node for target in parent.targets) else None
        elif isinstance(parent, ast.AnnAssign):
            value = parent.value
        self._bound.setdefault(node.id, []).append(None if value is None else (placed, value))


def binds_unseen(placed: Placed) -> bool:
    """A statement that may bind names of the file which its text does not show: by ``exec``, ``globals()[...] = ``."""
    calls = placed.unit.calls
    if any(isinstance(call.func, ast.Name) for call in calls.get("exec", ())):
        return True
    parents = placed.unit.parents
    for call in calls.get("globals", ()):
        above = parents[call]
        if isinstance(above, ast.Subscript) and not isinstance(above.ctx, ast.Load):
            return True
        if isinstance(above, ast.Attribute) and above.attr in ("update", "setdefault", "pop"):
            return True
        if isinstance(above, ast.Call | ast.keyword | ast.Assign | ast.NamedExpr):
            return True
    return False


def _other_names(node: ast.AST) -> tuple[str, ...]:
    """Names bound by what is no assignment."""
    if isinstance(node, ast.arg):
        return (node.arg,)
    if isinstance(node, ast.alias):
        return ((node.asname or node.name).partition(".")[0],)
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return (node.name,)
    if isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar):
        return (node.name,) if node.name else ()
    if isinstance(node, ast.Global | ast.Nonlocal):
        return tuple(node.names)
    return ()


def _may_change(node: ast.Name, parent: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    """Whether what a name holds may be changed, or made known elsewhere, by the expression that reads it."""
    if isinstance(parent, ast.Subscript) and parent.value is node:
        return not isinstance(parent.ctx, ast.Load)
    if isinstance(parent, ast.Attribute):
        called = parents.get(parent)
        is_method = isinstance(called, ast.Call) and called.func is parent
        return not isinstance(parent.ctx, ast.Load) or (is_method and parent.attr not in READING)
    if isinstance(parent, ast.Call):
        return parent.func is not node and _name(parent.func) not in HARMLESS
    if isinstance(parent, ast.keyword):
        return parent.arg is not None and not _name_of_call(parents.get(parent)).endswith("Config")
    return isinstance(parent, ast.Assign | ast.AnnAssign | ast.NamedExpr | ast.Dict | ast.List | ast.Tuple | ast.Return)


def _name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _name_of_call(node: ast.AST | None) -> str:
    return _name(node.func) if isinstance(node, ast.Call) else ""
