"""Values of Python expressions that are certain whatever runs: literals and bounded arithmetic."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import ast

    from neurarch_schemas.documents.json_value import JSONValue

MAX_ITEMS = 10_000
MAX_NUMBER = 1 << 63

_ARITHMETIC = {
    "Add": operator.add,
    "Sub": operator.sub,
    "Mult": operator.mul,
    "Div": operator.truediv,
    "FloorDiv": operator.floordiv,
    "Mod": operator.mod,
    "Pow": operator.pow,
}


class Unknown(Exception):
    """The value depends on what runs, or no config.json can hold it."""


def plain(value: object) -> JSONValue:
    """A constant as JSON. Raises Unknown."""
    if value is None or isinstance(value, bool | str | float):
        return value
    if isinstance(value, int) and abs(value) < MAX_NUMBER:
        return value
    raise Unknown


def unary(operation: ast.unaryop, value: JSONValue) -> JSONValue:
    """``not``, ``-`` and ``+``. Raises Unknown."""
    name = type(operation).__name__
    if name == "Not" and isinstance(value, bool):
        return not value
    if isinstance(value, bool) or not isinstance(value, int | float) or name not in ("USub", "UAdd"):
        raise Unknown
    return -value if name == "USub" else value


def binary(operation: ast.operator, left: Any, right: Any) -> JSONValue:
    """Arithmetic on numbers; lists joined and repeated. Bounded: nothing a file says may cost much. Raises Unknown."""
    name = type(operation).__name__
    if isinstance(left, list) or isinstance(right, list):
        return _of_lists(name, left, right)
    if name not in _ARITHMETIC or not (_is_number(left) and _is_number(right)):
        raise Unknown
    if name == "Pow" and not (0 <= right <= 64 and abs(left) <= 1 << 16):
        raise Unknown
    try:
        return plain(_ARITHMETIC[name](left, right))
    except ArithmeticError as error:
        raise Unknown from error


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _of_lists(name: str, left: Any, right: Any) -> JSONValue:
    if name == "Add" and isinstance(left, list) and isinstance(right, list):
        if len(left) + len(right) <= MAX_ITEMS:
            return [*left, *right]
    elif name == "Mult":
        items, times = (left, right) if isinstance(left, list) else (right, left)
        if type(times) is int and len(items) * times <= MAX_ITEMS:
            return [*(items * times)]
    raise Unknown
