"""Conditions on the values of a config that its class checks, from ``constraints.json``.

They are written as Python expressions over the keys ("len(conv_dim) == num_conv_layers", "text_config.hidden_size ==
hidden_size") and evaluated here, on plain values only.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from neurarch_schemas.config.check_types import show
from neurarch_schemas.config.layer_pattern import LayerPattern
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.config.refusals.refusal import Refusal
from neurarch_schemas.config.refusals.table import constraints

LARGEST_POWER = 64
OPERATORS: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Add: lambda left, right: left + right,
    ast.Sub: lambda left, right: left - right,
    ast.Mult: lambda left, right: left * right,
    ast.FloorDiv: lambda left, right: left // right,
    ast.Mod: lambda left, right: left % right,
    ast.BitAnd: lambda left, right: left & right,
    ast.Pow: lambda left, right: left**right,
}
COMPARISONS: Mapping[type, Callable[[Any, Any], bool]] = {
    ast.Eq: lambda left, right: left == right,
    ast.NotEq: lambda left, right: left != right,
    ast.Lt: lambda left, right: left < right,
    ast.LtE: lambda left, right: left <= right,
    ast.Gt: lambda left, right: left > right,
    ast.GtE: lambda left, right: left >= right,
    ast.In: lambda left, right: left in right,
    ast.Is: lambda left, right: left is right,
    ast.IsNot: lambda left, right: left is not right,
}


class Unknown(Exception):
    """The condition reads what the config does not say, or no number where it needs one."""


def broken_constraints(config: ModelConfig) -> Iterator[Refusal]:
    """The conditions of one config's own class that do not hold."""
    for condition, told_by in constraints().get(config.model_type, ()):
        node = parse(condition)
        try:
            holds = bool(evaluate(node, config))
        except Unknown:
            continue
        if not holds:
            read = dict(operands(node, config))
            values = ", ".join(f"{name} is {show(value)}" for name, value in read.items())
            keys = tuple(name.removeprefix("len(").removeprefix("sum(").rstrip(")") for name in read)
            yield Refusal(f"{condition} must hold, and {values}", config.pointer, keys, told_by)


@cache
def parse(condition: str) -> ast.expr:
    return ast.parse(condition, mode="eval").body


def operands(node: ast.expr, config: ModelConfig) -> Iterator[tuple[str, Any]]:
    """Keys, and lengths or sums of keys, with their values."""
    if isinstance(node, ast.Name | ast.Attribute | ast.Subscript) or (
        isinstance(node, ast.Call) and name_of(node) != "is_number"
    ):
        try:
            yield ast.unparse(node), evaluate(node, config)
        except Unknown:
            return
        return
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            yield from operands(child, config)


def evaluate(node: ast.expr, config: ModelConfig) -> Any:
    """The value of an expression. Raises Unknown where the config does not decide it."""
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Tuple(elts=items) | ast.List(elts=items):
            return [evaluate(item, config) for item in items]
        case ast.Name(id=name):
            return value_of(config, name)
        case ast.Attribute(value=owner, attr=name):
            return value_of(evaluate(owner, config), name)
        case ast.Subscript(value=owner, slice=index):
            return item_of(evaluate(owner, config), evaluate(index, config))
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return not evaluate(inner, config)
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return -number(evaluate(inner, config))
        case ast.BoolOp(op=ast.And(), values=parts):
            return all(evaluate(part, config) for part in parts)
        case ast.BoolOp(op=ast.Or(), values=parts):
            return any(evaluate(part, config) for part in parts)
        case ast.IfExp(test=test, body=then, orelse=other):
            return evaluate(then if evaluate(test, config) else other, config)
        case ast.BinOp(left=left, op=op, right=right):
            return calculate(op, number(evaluate(left, config)), number(evaluate(right, config)))
        case ast.Compare(left=left, ops=ops, comparators=others):
            values = [evaluate(item, config) for item in (left, *others)]
            return all(compare(op, *pair) for op, *pair in zip(ops, values, values[1:], strict=False))
        case ast.Call(args=[argument]):
            return call(name_of(node), evaluate(argument, config))
    raise Unknown


def name_of(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else ""


def value_of(owner: Any, name: str) -> Any:
    if isinstance(owner, ModelConfig):
        if name in owner.nested:
            return owner.nested[name]
        canonical = owner.synonyms.get(name, name)
        if canonical in owner.patterns:
            return owner.patterns[canonical]
        if name in owner:
            return owner.get(name)
    if isinstance(owner, dict) and name in owner:
        return owner[name]
    raise Unknown


def item_of(owner: Any, index: Any) -> Any:
    if isinstance(owner, list) and isinstance(index, int) and -len(owner) <= index < len(owner):
        return owner[index]
    raise Unknown


def number(value: Any) -> int | float:
    if isinstance(value, int | float):
        return value
    raise Unknown


def calculate(op: ast.operator, left: Any, right: Any) -> Any:
    if isinstance(op, ast.Pow) and not (0 <= right <= LARGEST_POWER and abs(left) <= LARGEST_POWER):
        raise Unknown
    try:
        return OPERATORS[type(op)](left, right)
    except (TypeError, ArithmeticError) as error:
        raise Unknown from error


def compare(op: ast.cmpop, left: Any, right: Any) -> bool:
    try:
        return COMPARISONS[type(op)](left, right)
    except TypeError as error:
        raise Unknown from error


def call(name: str, value: Any) -> Any:
    if name == "is_number":
        return isinstance(value, int | float)
    if name == "len" and isinstance(value, LayerPattern):
        return value.length
    if name == "len" and isinstance(value, list):
        return len(value)
    if name in ("sum", "min") and isinstance(value, list) and value:
        numbers = [number(item) for item in value]
        return sum(numbers) if name == "sum" else min(numbers)
    raise Unknown
