"""Instances of classes that derive from a host type carry its value by being of a host subclass."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from typing import Any

from neurarch_schemas.interpreter.values.instances import Instance, InstanceMethods


class IntInstance(InstanceMethods, int):
    pass


class FloatInstance(InstanceMethods, float):
    pass


class StrInstance(InstanceMethods, str):
    pass


class BytesInstance(InstanceMethods, bytes):
    pass


class TupleInstance(InstanceMethods, tuple):  # type: ignore[type-arg]  # items are values
    pass


class ListInstance(InstanceMethods, list):  # type: ignore[type-arg]
    __hash__ = object.__hash__  # type: ignore[assignment]  # identity, unlike plain lists


class DictInstance(InstanceMethods, dict):  # type: ignore[type-arg]
    __hash__ = object.__hash__  # type: ignore[assignment]


class OrderedDictInstance(InstanceMethods, OrderedDict):  # type: ignore[type-arg]
    __hash__ = object.__hash__  # type: ignore[assignment]


class DefaultDictInstance(InstanceMethods, defaultdict):  # type: ignore[type-arg]
    __hash__ = object.__hash__  # type: ignore[assignment]


class SetInstance(InstanceMethods, set):  # type: ignore[type-arg]
    __hash__ = object.__hash__  # type: ignore[assignment]


class FrozenSetInstance(InstanceMethods, frozenset):  # type: ignore[type-arg]
    __hash__ = frozenset.__hash__


class DequeInstance(InstanceMethods, deque):  # type: ignore[type-arg]
    __hash__ = object.__hash__  # type: ignore[assignment]


CARRIERS: dict[type, type] = {
    int: IntInstance,
    float: FloatInstance,
    str: StrInstance,
    bytes: BytesInstance,
    tuple: TupleInstance,
    list: ListInstance,
    dict: DictInstance,
    OrderedDict: OrderedDictInstance,
    defaultdict: DefaultDictInstance,
    set: SetInstance,
    frozenset: FrozenSetInstance,
    deque: DequeInstance,
}
_OWN = ("__call__", "__dict__", "__module__", "__doc__", "__annotations__", "__weakref__")
for _host in CARRIERS.values():
    # The host type's own operators serve: only classes that override one are looked up (see operators.py).
    for _special_name in list(vars(InstanceMethods)):
        if _special_name.startswith("__") and _special_name not in _OWN and hasattr(_host.__mro__[2], _special_name):
            setattr(_host, _special_name, getattr(_host.__mro__[2], _special_name))

INSTANCE_TYPES: frozenset[Any] = frozenset({Instance, *CARRIERS.values()})
