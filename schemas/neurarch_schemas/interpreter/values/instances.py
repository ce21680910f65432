"""Objects of interpreted classes, with the host's special methods, each of which ends in the interpreted one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from neurarch_schemas.interpreter.values.classes import Class
from neurarch_schemas.interpreter.values.errors import Raised, UnknownTruth
from neurarch_schemas.interpreter.values.unknown import Unknown
from neurarch_schemas.interpreter.values.value import MISSING, Value


def _special(name: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any) -> Any:
        found = self.cls.lookup(name)
        if found is MISSING:
            return NotImplemented
        return self.cls.machine.call_method(self, found, list(args))

    method.__name__ = name
    return method


class InstanceMethods:
    """Host special methods of instances, each ending in the interpreted method of that name."""

    cls: Class
    attrs: dict[str, Value]

    def __call__(self, *args: Value, **kwargs: Value) -> Value:
        return self.cls.machine.call(self, list(args), kwargs)


_BINARY = "add sub mul truediv floordiv mod pow and or xor lshift rshift matmul"
for _name in _BINARY.split():
    for _special_name in (f"__{_name}__", f"__r{_name}__"):
        setattr(InstanceMethods, _special_name, _special(_special_name))
for _name in ("lt", "le", "gt", "ge"):
    setattr(InstanceMethods, f"__{_name}__", _special(f"__{_name}__"))


class Instance(InstanceMethods):
    """An object of an interpreted (or modelled) class that carries no host value."""

    __slots__ = ("attrs", "cls")

    def __init__(self, cls: Class) -> None:
        self.cls = cls
        self.attrs: dict[str, Value] = {}

    def __eq__(self, other: object) -> Any:
        if self is other:
            return True
        found = self.cls.lookup("__eq__")
        if found is MISSING:
            return NotImplemented
        return self.cls.machine.call_method(self, found, [other])

    def __ne__(self, other: object) -> Any:
        found = self.cls.lookup("__ne__")
        if found is not MISSING:
            return self.cls.machine.call_method(self, found, [other])
        result = self.__eq__(other)
        return result if result is NotImplemented or type(result) is Unknown else not result

    def __hash__(self) -> int:
        found = self.cls.lookup("__hash__")
        if found is MISSING or found is None:
            return id(self) >> 4
        result = self.cls.machine.call_method(self, found, [])
        return result if isinstance(result, int) else id(self) >> 4

    def __bool__(self) -> bool:
        for name in ("__bool__", "__len__"):
            found = self.cls.lookup(name)
            if found is not MISSING:
                return bool(self.cls.machine.call_method(self, found, []))
        return True

    def _required(self, name: str, *args: Value) -> Value:
        found = self.cls.lookup(name)
        if found is MISSING:
            raise TypeError(f"'{self.cls.name}' object has no {name}")
        return self.cls.machine.call_method(self, found, list(args))

    def __len__(self) -> int:
        result = self._required("__len__")
        if type(result) is Unknown:
            raise UnknownTruth(result)
        return int(result)

    def __iter__(self) -> Iterator[Value]:
        if self.cls.lookup("__iter__") is MISSING and self.cls.lookup("__getitem__") is not MISSING:
            return self._sequence_iterator()
        result = self._required("__iter__")
        if type(result) is Unknown:
            raise UnknownTruth(result)
        return iter(result)

    def _sequence_iterator(self) -> Iterator[Value]:
        index = 0
        while True:
            try:
                yield self._required("__getitem__", index)
            except Raised as error:
                if error.value.cls.name == "IndexError":
                    return
                raise
            index += 1

    def __next__(self) -> Value:
        try:
            return self._required("__next__")
        except Raised as error:
            if error.value.cls.name == "StopIteration":
                raise StopIteration from None
            raise

    def __getitem__(self, key: Value) -> Value:
        return self._required("__getitem__", key)

    def __contains__(self, item: Value) -> bool:
        found = self.cls.lookup("__contains__")
        if found is not MISSING:
            return bool(self.cls.machine.call_method(self, found, [item]))
        return any(item is each or item == each for each in self)

    def __index__(self) -> int:
        return int(self._required("__index__"))

    def __int__(self) -> int:
        return int(self._required("__int__"))

    def __float__(self) -> float:
        return float(self._required("__float__"))

    def __repr__(self) -> str:
        found = self.cls.lookup("__repr__")
        if found is not MISSING:
            return str(self.cls.machine.call_method(self, found, []))
        return f"<{self.cls.module}.{self.cls.qualname} object>"

    def __str__(self) -> str:
        found = self.cls.lookup("__str__")
        if found is not MISSING:
            return str(self.cls.machine.call_method(self, found, []))
        return repr(self)

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    def __fspath__(self) -> str:
        return str(self)
