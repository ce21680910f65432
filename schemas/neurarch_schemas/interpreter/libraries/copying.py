"""copy: deep copies keep what is shared inside one copy shared, as ``deepcopy`` does."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from typing import TYPE_CHECKING, Any

from neurarch_schemas.interpreter.libraries.library import module
from neurarch_schemas.interpreter.values import (
    CARRIERS,
    INSTANCE_TYPES,
    MISSING,
    BoundMethod,
    Function,
    Instance,
    Partial,
    PythonModule,
    Value,
)

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine


def build(machine: Machine, name: str) -> PythonModule:
    return module(
        name,
        {
            "deepcopy": lambda machine, value, memo=None: deep_copy(machine, value, memo if memo is not None else {}),
            "copy": lambda machine, value: shallow_copy(machine, value),
        },
    )


def shallow_copy(machine: Machine, value: Value) -> Value:
    kind = value.__class__
    if kind in INSTANCE_TYPES:
        found = value.cls.lookup("__copy__")
        if found is not MISSING:
            return machine.call_method(value, found, [])
        if kind is Instance:
            made = Instance(value.cls)
            made.attrs = dict(value.attrs)
            return made
        made = _carrier(value, value)
        made.attrs = dict(value.attrs)
        return made
    if kind in (list, dict, set, OrderedDict, deque, defaultdict):
        return value.copy()
    method = getattr(kind, "interpreted_copy", None)
    return value if method is None else method(value, machine)


def _carrier(value: Any, content: Any) -> Any:
    host = next(host for host, carrier in CARRIERS.items() if carrier is value.__class__)
    made: Any = value.__class__(value.default_factory, content) if host is defaultdict else value.__class__(content)
    made.cls = value.cls
    made.attrs = {}
    return made


def deep_copy(machine: Machine, value: Value, memo: dict[Value, Value]) -> Value:
    kind = value.__class__
    if value is None or kind in (int, str, float, bool, bytes):
        return value
    known = memo.get(id(value), MISSING)
    if known is not MISSING:
        return known
    made: Value
    machine.meter.steps += 1
    if kind is list:
        made = memo[id(value)] = []
        made.extend(deep_copy(machine, item, memo) for item in value)
        return made
    if kind is dict or kind is OrderedDict or kind is defaultdict:
        made = defaultdict(value.default_factory) if kind is defaultdict else kind()
        memo[id(value)] = made
        for key, item in value.items():
            made[deep_copy(machine, key, memo)] = deep_copy(machine, item, memo)
        return made
    if kind is tuple:
        items = [deep_copy(machine, item, memo) for item in value]
        if all(a is b for a, b in zip(items, value, strict=True)):
            return value
        made = memo[id(value)] = tuple(items)
        return made
    if kind is set or kind is deque:
        made = memo[id(value)] = kind(deep_copy(machine, item, memo) for item in value)
        return made
    if kind in INSTANCE_TYPES:
        return _copy_instance(machine, value, memo)
    if kind is Partial:
        made = Partial(
            deep_copy(machine, value.function, memo),
            deep_copy(machine, value.args, memo),
            deep_copy(machine, value.keywords, memo),
        )
        memo[id(value)] = made
        return made
    if kind is BoundMethod and not isinstance(value.function, str):
        made = memo[id(value)] = BoundMethod(value.function, deep_copy(machine, value.receiver, memo))
        return made
    if kind is Function:
        return value
    method = getattr(kind, "interpreted_deepcopy", None)
    if method is None:
        return value
    made = memo[id(value)] = method(value, machine)
    return made


def _copy_instance(machine: Machine, value: Any, memo: dict[Value, Value]) -> Value:
    found = value.cls.lookup("__deepcopy__")
    if found is not MISSING:
        made = machine.call_method(value, found, [memo])
        memo[id(value)] = made
        return made
    if value.cls.layout is not None and getattr(value.cls.layout, "members", None):
        return value  # members of an enumeration are what they are
    if value.__class__ is Instance:
        made = Instance(value.cls)
        machine.meter.progress()
    elif isinstance(value, list | set | dict | deque):
        made = _carrier(value, ())
        memo[id(value)] = made
        if isinstance(value, dict):
            for key, item in value.items():
                made.__class__.__mro__[2].__setitem__(
                    made, deep_copy(machine, key, memo), deep_copy(machine, item, memo)
                )
        elif isinstance(value, set):
            made.update(deep_copy(machine, item, memo) for item in value)
        else:
            made.extend(deep_copy(machine, item, memo) for item in value)
    elif isinstance(value, tuple):
        made = _carrier(value, [deep_copy(machine, item, memo) for item in value])
    else:
        made = _carrier(value, value)
    memo[id(value)] = made
    for name, item in value.attrs.items():
        made.attrs[name] = deep_copy(machine, item, memo)
    return made
