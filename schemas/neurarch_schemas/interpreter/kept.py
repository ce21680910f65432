"""A program whose file has run, kept for the next construction as long as the last one left it as it was.

Building each class of a file in a program of its own would run the whole file once for each class.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from neurarch_schemas.interpreter.budgets import Meter
from neurarch_schemas.interpreter.machine import Machine
from neurarch_schemas.interpreter.scopes import Frame
from neurarch_schemas.interpreter.values import Class, Function, Instance, LazyImport, PythonModule, Value

_Watched = tuple[Value, tuple[Value, ...], tuple[int, ...]]
"""What may change, the values in it, and their identities."""


class Kept:
    """A machine right after it has run a file's module."""

    def __init__(self, machine: Machine, module: PythonModule) -> None:
        self.machine = machine
        self.module = module
        self._frame: Frame = machine.frame
        self._taints = list(machine.taints)
        self._branches = dict(machine.branches)
        self._state = _copied(machine.state)
        self._names = dict(module.namespace)
        self._watched: list[_Watched] = []
        self._tables: list[_Watched] = []
        """As ``_watched``, where what is held can be read without a detour."""
        self._attributes: list[tuple[Instance, dict[str, Value]]] = []
        """Objects and their dictionaries, which a program may exchange."""
        for value in _reachable(module):
            if value.__class__ is Instance:
                self._attributes.append((value, value.attrs))
            tables = _tables(value)
            for source in tables:
                self._tables.append(_watch(source, tuple(source)))
            if not tables:
                self._watched.append(_watch(value, tuple(_contents(value))))

    def unchanged(self) -> bool:
        """Whether the module, its classes, its objects and its defaults hold what they held."""
        names = self.module.namespace
        if names.keys() != self._names.keys():
            return False
        for name, value in self._names.items():
            if names[name] is not value and value.__class__ is not LazyImport:
                return False
        for table, values, identities in self._tables:
            if len(table) != len(values) or tuple(map(id, table)) != identities:
                return False
        if any(instance.attrs is not attributes for instance, attributes in self._attributes):
            return False
        return all(tuple(map(id, _contents(value))) == identities for value, _, identities in self._watched)

    def reset(self, meter: Meter) -> None:
        """Ready for the next construction, with a budget of its own."""
        machine = self.machine
        machine.meter = meter
        machine.sources.seconds = 0.0
        machine.frame = self._frame
        machine.call_depth = 0
        machine.import_guard = 0
        machine.taints = list(self._taints)
        machine.branches = dict(self._branches)
        # What libraries remember of instances is told by identity, which the next instances may have again.
        state = _copied(self._state)
        machine.state = {**{name: value for name, value in machine.state.items() if name not in _OF_INSTANCES}, **state}


_OF_INSTANCES = ("places", "unknown attributes", "forward depth")


def _copied(state: dict[str, Any]) -> dict[str, Any]:
    return {
        name: dict(value) if name in _OF_INSTANCES and isinstance(value, dict) else value
        for name, value in state.items()
    }


def _reachable(module: PythonModule) -> list[Value]:
    """Everything of the program that a construction could change, found from the module's names."""
    found: list[Value] = []
    seen: set[int] = set()
    pending: list[Value] = list(module.namespace.values())
    while pending:
        value = pending.pop()
        if id(value) in seen or not _changeable(value):
            continue
        seen.add(id(value))
        found.append(value)
        pending.extend(_contents(value))
    return found


def _watch(source: Value, values: tuple[Value, ...]) -> _Watched:
    return source, values, tuple(map(id, values))


def _tables(value: Value) -> tuple[Any, ...]:
    """Views of what a value holds that follow its changes; empty where they would not."""
    if value.__class__ is Class:
        return (value.namespace.values(),)
    if value.__class__ is dict:
        return (value.keys(), value.values())
    if value.__class__ in (list, set):
        return (value,)
    if value.__class__ is Instance:
        return (value.attrs.values(),)
    return ()


def _changeable(value: Value) -> bool:
    if isinstance(value, Class):
        return value.node is not None
    if isinstance(value, Function):
        return bool(value.defaults or value.kwdefaults or value.attrs)
    return isinstance(value, list | dict | set | tuple | Instance)


def _contents(value: Value) -> Iterator[Value]:
    if isinstance(value, Class):
        return iter(value.namespace.values())
    if isinstance(value, Function):
        return iter((*value.defaults, *value.kwdefaults.values(), *value.attrs.values()))
    if isinstance(value, dict):
        return iter((*dict.keys(value), *dict.values(value)))
    if isinstance(value, Instance):
        return iter(value.attrs.values())
    return (set if isinstance(value, set) else list if isinstance(value, list) else tuple).__iter__(value)
