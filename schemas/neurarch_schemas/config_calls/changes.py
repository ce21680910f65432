"""What becomes of a config between its construction and its use: ``config.num_hidden_layers = 3``."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from neurarch_schemas.documents.pointer import join_pointer
from neurarch_schemas.record import Record

if TYPE_CHECKING:
    from neurarch_schemas.documents.python_units import Placed


class Change(Record):
    """``target`` is set to ``value``; to something unknown where that is None (under a condition, in a loop).

    ``pointer`` is "" where any key may be set.
    """

    pointer: str
    placed: Placed
    target: ast.expr
    value: ast.expr | None


class Mentions:
    """Where a file names what, in the order of the text; each statement keeps its own."""

    def __init__(self, units: Sequence[Placed]) -> None:
        self._units = units

    def _of(self, name: str) -> Iterator[tuple[Placed, ast.Name]]:
        for placed in self._units:
            if name in placed.unit.text:
                for node in placed.unit.named.get(name, ()):
                    yield placed, node

    def behind(self, statement: ast.stmt, placed: Placed, name: str) -> Iterator[tuple[Placed, ast.stmt]]:
        """The statements behind ``statement`` in the same block that mention a name."""
        holder = placed.unit.parents[statement]
        is_top = holder is statement
        block: Sequence[ast.stmt] = () if is_top else _block(holder, statement)
        last: ast.AST = statement
        for where, node in self._of(name):
            if where.start < placed.start or (where is not placed and not is_top) or (is_top and where is placed):
                continue
            inside: ast.AST = node
            parents = where.unit.parents
            while (above := parents[inside]) is not inside and above is not holder:
                inside = above
            is_behind = is_top or (above is holder and _starts(inside) > _starts(statement) and inside in block)
            if is_behind and inside is not last and isinstance(inside, ast.stmt):
                last = inside
                yield where, inside


def changes(call: ast.Call, placed: Placed, mentions: Mentions) -> Iterator[Change]:
    """The assignments to keys of the config that ``call`` constructs, up to the first statement that uses it."""
    parents = placed.unit.parents
    statement = parents.get(call)
    if not isinstance(statement, ast.Assign) or statement.value is not call or len(statement.targets) != 1:
        return
    name = statement.targets[0]
    if not isinstance(name, ast.Name):
        return
    for where, following in mentions.behind(statement, placed, name.id):
        found = _assigned(following, name.id)
        if found is not None and isinstance(following, ast.Assign):
            yield Change(found[0], where, found[1], following.value)
            continue
        for node in ast.walk(following):
            inner = _assigned(node, name.id)
            if inner is not None:
                yield Change(inner[0], where, inner[1], None)
            for key, target in _set_by_call(node, name.id):
                yield Change(key, where, target, None)
        if _is_used(following, name.id):
            return


def _block(holder: ast.AST, statement: ast.stmt) -> list[ast.stmt]:
    for field in ("body", "orelse", "finalbody"):
        block = getattr(holder, field, None)
        if isinstance(block, list) and statement in block:
            return block
    return []


def _starts(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _assigned(node: ast.AST, name: str) -> tuple[str, ast.Attribute] | None:
    """The pointer and target of ``NAME.key = ...``, also of ``NAME.text_config.key``."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target = node.targets[0]
    elif isinstance(node, ast.AugAssign | ast.AnnAssign):
        target = node.target
    else:
        return None
    keys: list[str] = []
    inner: ast.expr = target
    while isinstance(inner, ast.Attribute):
        keys.append(inner.attr)
        inner = inner.value
    if not isinstance(target, ast.Attribute) or not isinstance(inner, ast.Name) or inner.id != name:
        return None
    return join_pointer("", *reversed(keys)), target


def _set_by_call(node: ast.AST, name: str) -> Iterator[tuple[str, ast.expr]]:
    """The pointers and places of keys in ``setattr(NAME, key, ...)`` and ``NAME.update({key: ...})``."""
    if not isinstance(node, ast.Call) or not node.args:
        return
    keys: Sequence[ast.expr | None]
    if isinstance(node.func, ast.Name) and node.func.id == "setattr" and _is_name(node.args[0], name):
        keys = node.args[1:2]
    elif isinstance(node.func, ast.Attribute) and node.func.attr == "update" and _is_name(node.func.value, name):
        keys = node.args[0].keys if isinstance(node.args[0], ast.Dict) else [None]
    else:
        return
    for key in keys:
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            yield join_pointer("", key.value), key
        else:
            yield "", node


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _is_used(statement: ast.stmt, name: str) -> bool:
    """Whether the name is read for more than to set a key of what it holds."""
    targets = {
        node.target if isinstance(node, ast.AugAssign | ast.AnnAssign) else node.targets[0]
        for node in ast.walk(statement)
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign) and _assigned(node, name) is not None
    }
    set_only = {id(each) for target in targets for each in ast.walk(target)}
    return any(
        isinstance(node, ast.Name) and node.id == name and id(node) not in set_only for node in ast.walk(statement)
    )
