from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.python_file import FUNCTIONS, PythonFile, Site, are_exclusive, python_file, self_attribute
from neurarch_rules.facts.python_flow import made_by, scope_of
from neurarch_rules.facts.python_reach import of_units
from neurarch_schemas.documents.python_nodes import nodes, nodes_of

if TYPE_CHECKING:
    from neurarch_schemas.documents.python_units import Placed

RULE = RuleInfo(
    name="attention-mask-finite",
    severity="warning",
    category="correctness",
    summary="Masked attention scores get a value that a softmax does not turn into zero",
    reads=("python",),
    needs=("masked_fill", "where", "mask"),
)

OF_ITSELF = re.compile(r"eye\(|self_mask|_SELF_|diag")
"""The diagonal alone hides no future: a token is only to look less at itself."""
SMALLEST = -1e5
"""Masks of -1e9 and the smallest finite number of the dtype lie far below any score in float32."""


def check(context: Context) -> Iterator[Finding]:
    return of_units(python_file(context), _of_unit)


def _of_unit(file: PythonFile, unit: Placed) -> Iterator[Finding]:
    if "oftmax" not in unit.unit.text:
        return
    for placed, node, filled, scores_node in (*_filled(file, unit), *_stored(unit)):
        value = _number(filled)
        if value is None:
            value = _number(_value_of(file, placed, filled))
        if value is None or not SMALLEST < value < 1 or (value == 0 and _replaces_invalid(node)):
            continue
        if value == 0 and isinstance(placed.unit.parents[node], ast.BinOp):
            continue  # a term that is left out, not a score
        if not _reaches_softmax(file, placed.unit.parents, node) or _holds_softmax(file, scores_node):
            continue
        shown = ast.unparse(filled)
        if value == 0:
            wrong = f"{shown} hides nothing: masked positions enter the softmax with a score of 0"
        elif value > 0:
            wrong = f"{shown} is almost zero, not a large negative number: masked positions keep an average score"
        else:
            wrong = (
                f"{shown} is a finite mask: where the other scores lie below it, attention looks at masked positions"
            )
        scores = ast.unparse(scores_node)
        smallest = f"torch.finfo({scores}.dtype).min" if isinstance(scores_node, ast.Name) else 'float("-inf")'
        site = Site(placed, filled)
        yield Finding(
            f'{wrong}; use {smallest}, or float("-inf") where no row is masked completely',
            site.place,
            fixes=(site.replace(smallest, f"Mask with {smallest}", "unsafe"),),
        )


def _filled(file: PythonFile, placed: Placed) -> Iterator[tuple[Placed, ast.AST, ast.expr, ast.expr]]:
    """``scores.masked_fill(mask, value)`` and ``torch.where(mask, scores, value)``: the value and the scores."""
    calls = placed.unit.calls
    for call in (call for name in ("masked_fill", "masked_fill_", "where") for call in calls.get(name, ())):
        if not isinstance(call.func, ast.Attribute):
            continue
        if call.func.attr == "where":
            if file.qualified(call.func) == "torch.where" and len(call.args) == 3:
                yield placed, call, call.args[2], call.args[1]
        elif len(call.args) == 2 and not OF_ITSELF.search(ast.unparse(call)):
            yield placed, call, call.args[1], call.func.value


def _stored(placed: Placed) -> Iterator[tuple[Placed, ast.AST, ast.expr, ast.expr]]:
    """``scores[mask == 0] = value``."""
    for statement in placed.unit.body:
        for node in nodes_of(statement, ast.Assign):
            target = node.targets[0]
            if len(node.targets) != 1 or not isinstance(target, ast.Subscript):
                continue
            if isinstance(target.value, ast.Name) and "mask" in ast.unparse(target.slice):
                yield placed, node, node.value, target.value


def _value_of(file: PythonFile, placed: Placed, node: ast.expr) -> ast.expr | None:
    """What a name or an attribute of the module is given once."""
    if isinstance(node, ast.Name):
        return made_by(file, placed, node)
    attribute = self_attribute(node)
    owner = scope_of(file, placed, node).owner
    values = owner.assigned.get(attribute, []) if owner is not None and attribute is not None else []
    return values[0] if len(values) == 1 else None


def _number(node: ast.expr | None) -> float | None:
    sign = 1
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        sign, node = -1, node.operand
    if isinstance(node, ast.Call) and len(node.args) == 1 and ast.unparse(node.func) in ("float", "torch.tensor"):
        return _number(node.args[0])
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return sign * float(node.value)
    return None


def _replaces_invalid(node: ast.AST) -> bool:
    """What is filled with zero are not-a-numbers or infinities, not hidden positions."""
    text = ast.unparse(node)
    is_where = isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "where"
    return is_where or any(word in text for word in ("isnan", "isinf", "isfinite", "!="))


def _reaches_softmax(file: PythonFile, parents: dict[ast.AST, ast.AST], call: ast.AST) -> bool:
    """The filled scores are what a softmax further down in the same function is given."""
    function = statement = call
    while not isinstance(function, FUNCTIONS):
        if parents[function] is function:
            return False
        statement = function if isinstance(function, ast.stmt) and statement is call else statement
        function = parents[function]
    names: set[str] = set()
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
        names.add(statement.targets[0].id)
    changed = call.func if isinstance(call, ast.Call) else None
    if isinstance(changed, ast.Attribute) and changed.attr.endswith("_") and isinstance(changed.value, ast.Name):
        names.add(changed.value.id)
    if isinstance(call, ast.Assign):
        names.update(
            name.id
            for name in nodes_of(call.targets[0], ast.Name)
            if name.id in ast.unparse(call.targets[0]).partition("[")[0]
        )
    for node in nodes(function):
        if isinstance(node, ast.Call) and _is_softmax(file, node) and node.lineno >= getattr(call, "lineno", 0):
            given = [node.func.value] if isinstance(node.func, ast.Attribute) else []
            for item in (*given, *node.args):
                if item is call:
                    return True
                if isinstance(item, ast.Name) and item.id in names and not are_exclusive(parents, call, node):
                    return True
    return False


def _holds_softmax(file: PythonFile, node: ast.AST) -> bool:
    """What is filled are probabilities already."""
    return any(isinstance(each, ast.Call) and _is_softmax(file, each) for each in nodes(node))


def _is_softmax(file: PythonFile, call: ast.Call) -> bool:
    if (file.qualified(call.func) or "").endswith(".softmax"):
        return True
    return isinstance(call.func, ast.Attribute) and call.func.attr in ("softmax", "attn_softmax")
