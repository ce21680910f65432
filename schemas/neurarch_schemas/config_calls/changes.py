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
    """``target`` is set to ``value``; to something unknown where that is None (under a condition, in a loop)."""

    pointer: str
    placed: Placed
    target: ast.Attribute
    value: ast.expr | None


def changes(call: ast.Call, placed: Placed, units: Sequence[Placed]) -> Iterator[Change]:
    """The assignments to keys of the config that ``call`` constructs, up to the first statement that uses it."""
    parents = placed.unit.parents
    statement = parents.get(call)
    if not isinstance(statement, ast.Assign) or statement.value is not call or len(statement.targets) != 1:
        return
    name = statement.targets[0]
    if not isinstance(name, ast.Name):
        return
    for where, following in _behind(statement, placed, units):
        found = _assigned(following, name.id)
        if found is not None and isinstance(following, ast.Assign):
            yield Change(found[0], where, found[1], following.value)
            continue
        if not _mentions(following, name.id):
            continue
        for node in ast.walk(following):
            inner = _assigned(node, name.id)
            if inner is not None:
                yield Change(inner[0], where, inner[1], None)
        if _is_used(following, name.id):
            return


def _behind(statement: ast.stmt, placed: Placed, units: Sequence[Placed]) -> Iterator[tuple[Placed, ast.stmt]]:
    """The statements that follow in the same block."""
    holder = placed.unit.parents[statement]
    if holder is statement:
        for other in units:
            if other.start > placed.start:
                yield from ((other, each) for each in other.unit.body)
        return
    for field in ("body", "orelse", "finalbody"):
        block = getattr(holder, field, None)
        if isinstance(block, list) and statement in block:
            yield from ((placed, each) for each in block[block.index(statement) + 1 :])


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


def _mentions(node: ast.AST, name: str) -> bool:
    return any(isinstance(each, ast.Name) and each.id == name for each in ast.walk(node))


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
