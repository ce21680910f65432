"""What the host's own loops cost: the elements they would visit, counted before they are set off.

A list that holds itself twice, forty times over, is small in memory and endless to print, compare or hash: the host
visits what is shared once for each way that leads to it, so that is how it is counted here.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterable
from typing import Any

from neurarch_schemas.interpreter.budgets import BudgetExceeded, Meter
from neurarch_schemas.interpreter.values import TypingForm, Value

_DEEPEST = 400
_ITEMS = 5
"""32 plain items cost the host about as much as one step costs us."""
_CHARACTERS = 7
_PLAIN = (int, float, bool, type(None))


def charge(meter: Meter, value: Value) -> None:
    """Count a visit of a value and all it holds, e.g. for ``repr`` or ``hash``. Raises BudgetExceeded."""
    kind = value.__class__
    if kind is str:
        if len(value) > 255:
            meter.work(len(value) >> _CHARACTERS)
    elif kind not in _PLAIN:
        _visit(meter, value, set(), 0)


def charge_length(meter: Meter, value: Value) -> None:
    """Count one pass over a container or text, its items left aside, e.g. for a copy. Raises BudgetExceeded."""
    if isinstance(value, str | bytes):
        meter.work(len(value) >> _CHARACTERS)
    elif isinstance(value, list | tuple | dict | set | frozenset | deque):
        meter.work(len(value) >> _ITEMS)


def rounds(values: range) -> int:
    """The length of a range, which the host refuses to tell of the longest ones."""
    try:
        return len(values)
    except OverflowError:
        return sys.maxsize


def charge_sort(meter: Meter, items: list[Value]) -> None:
    """Count the comparisons of a sort. Raises BudgetExceeded."""
    rounds = len(items).bit_length()
    meter.work((len(items) * rounds) >> _ITEMS)
    if items and items[0].__class__ not in (int, float, str, bool):
        for _ in range(rounds):
            charge(meter, items)


def _visit(meter: Meter, value: Any, above: set[int], depth: int) -> None:
    items: Iterable[Any]
    if isinstance(value, str | bytes):
        meter.work(len(value) >> _CHARACTERS)
        return
    if isinstance(value, list | tuple | set | frozenset | deque):
        items = value
    elif isinstance(value, dict):
        items = (*dict.keys(value), *dict.values(value))
    elif value.__class__ is TypingForm:
        items = value.args
    else:
        return
    length = len(items)
    meter.work(2 + (length >> _ITEMS))
    if not length or id(value) in above:  # the host notices a container within itself, too
        return
    if depth > _DEEPEST:
        raise BudgetExceeded(f"values nest deeper than {_DEEPEST}")
    above.add(id(value))
    plain = _PLAIN
    # the host type's own iteration: a class of the program may have its own
    for item in _plainly(items):
        if item.__class__ not in plain:
            _visit(meter, item, above, depth + 1)
    above.discard(id(value))


def _plainly(items: Any) -> Iterable[Any]:
    hosts: tuple[Any, ...] = (list, tuple, set, frozenset, deque)
    for host in hosts:
        if isinstance(items, host):
            iterator: Iterable[Any] = host.__iter__(items)
            return iterator
    return items  # type: ignore[no-any-return]  # a plain tuple of keys and values
