"""A program whose file has run, kept for the next construction as long as the last one left it as it was.

Building each class of a file in a program of its own would run the file, and what it imports, once for each class.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from operator import is_
from typing import Any

from neurarch_schemas.interpreter.budgets import Meter
from neurarch_schemas.interpreter.machine import Machine, Site
from neurarch_schemas.interpreter.scopes import Frame
from neurarch_schemas.interpreter.torch_nn.tensor import Tensor
from neurarch_schemas.interpreter.values import (
    INSTANCE_TYPES,
    BoundMethod,
    Builtin,
    Class,
    ClassMethod,
    Function,
    Instance,
    LazyImport,
    Partial,
    Property,
    PythonModule,
    StaticMethod,
    Value,
)

_PLAIN = (int, str, float, bool, type(None), LazyImport)


class Kept:
    """A machine right after it has run a file's module.

    A module that is first imported by a later construction is watched from the moment its own body has run.
    """

    def __init__(self, machine: Machine, module: PythonModule) -> None:
        self.machine = machine
        self.module = module
        self._frame: Frame = machine.frame
        self._taints = list(machine.taints)
        self._branches = dict(machine.branches)
        self._state = _copied(machine.state)
        self._seen: set[int] = set()
        self._namespaces: list[tuple[dict[str, Value], tuple[str, ...], tuple[Value, ...]]] = []
        """Names of modules: those that are imported lazily may be resolved at any time."""
        self._tables: list[tuple[Any, tuple[Value, ...]]] = []
        """Views of what values hold, which follow their changes, and what they held."""
        self._fields: list[tuple[Value, tuple[Value, ...]]] = []
        """The same of what has no such view."""
        self._endless = False
        """Some value changes when it is read, e.g. an iterator."""
        self._modules: dict[str, Value] = {}
        self._watch_modules()
        machine.when_loaded = self._watch_module

    def unchanged(self) -> bool:
        """Whether all modules, their classes, functions and objects hold what they held when they were loaded."""
        machine = self.machine
        if self._endless or machine.unrepeatable or machine.import_sites & machine.decisions.keys():
            return False
        modules = machine.modules
        if any(modules.get(name) is not module for name, module in self._modules.items()):
            return False
        for index, (namespace, names, values) in enumerate(self._namespaces):
            if len(namespace) != len(names):
                return False
            if not all(map(is_, namespace.values(), values)):
                if not self._only_resolved(namespace, names, values):
                    return False
                self._namespaces[index] = (namespace, tuple(namespace), tuple(namespace.values()))
        for table, values in self._tables:
            if len(table) != len(values) or not all(map(is_, table, values)):
                return False
        if not all(all(map(is_, _fields(value), values)) for value, values in self._fields):
            return False
        if len(modules) != len(self._modules):
            self._watch_modules()
        return True

    def _only_resolved(self, namespace: dict[str, Value], names: tuple[str, ...], values: tuple[Value, ...]) -> bool:
        for name, value in zip(names, values, strict=True):
            if name not in namespace or (namespace[name] is not value and value.__class__ is not LazyImport):
                return False
        return True

    def take(self, meter: Meter, decisions: dict[Site, bool]) -> bool:
        """Make ready for a construction with a budget of its own; False where the decisions concern what has run."""
        machine = self.machine
        if machine.import_sites & decisions.keys():
            return False
        machine.meter = meter
        machine.decisions = decisions
        machine.sources.seconds = 0.0
        machine.frame = self._frame
        machine.call_depth = 0
        machine.import_guard = 0
        machine.taints = list(self._taints)
        machine.branches = dict(self._branches)
        # What libraries remember of instances is told by identity, which the next instances may have again.
        state = _copied(self._state)
        machine.state = {**{name: value for name, value in machine.state.items() if name not in _OF_INSTANCES}, **state}
        return True

    def _watch_modules(self) -> None:
        for name, module in self.machine.modules.items():
            if name not in self._modules:
                self._modules[name] = module
                if not isinstance(module, PythonModule):
                    self._watch((module,))
                elif module.loading or module.file is None:
                    self._watch_module(module)

    def _watch_module(self, module: PythonModule) -> None:
        if id(module) in self._seen:
            return
        self._seen.add(id(module))
        namespace = module.namespace
        self._namespaces.append((namespace, tuple(namespace), tuple(namespace.values())))
        self._watch(namespace.values())

    def _watch(self, values: Iterable[Value]) -> None:
        """Everything of the program that a construction could change, found from the names of a module."""
        seen = self._seen
        pending: list[Value] = [value for value in values if value.__class__ not in _PLAIN]
        while pending:
            value = pending.pop()
            if id(value) in seen:
                continue
            kind = value.__class__
            if kind is PythonModule:
                if value.file is None:
                    self._watch_module(value)
                continue
            seen.add(id(value))
            if kind is tuple or kind is frozenset:
                pending.extend(value)
                continue
            fields = _fields(value)
            if fields:
                self._fields.append((value, fields))
                pending.extend(each for each in fields if each.__class__ not in _PLAIN)
            for table in _tables(value):
                held = tuple(table)
                self._tables.append((table, held))
                pending.extend(each for each in held if each.__class__ not in _PLAIN)
            if hasattr(kind, "__next__") and kind is not Instance:
                self._endless = True


_OF_INSTANCES = ("places", "unknown attributes", "forward depth")


def _copied(state: dict[str, Any]) -> dict[str, Any]:
    return {
        name: dict(value) if name in _OF_INSTANCES and isinstance(value, dict) else value
        for name, value in state.items()
    }


def _tables(value: Value) -> Iterator[Any]:
    """Views of what a value holds."""
    kind = value.__class__
    if kind is Class:
        yield value.namespace.keys()
        yield value.namespace.values()
        return
    if kind is Function:
        yield value.attrs.values()
        yield value.kwdefaults.values()
        frame = value.frame
        while frame is not None and frame.parent is not None:
            if not frame.is_class:
                yield frame.locals.values()
            frame = frame.parent
        return
    if kind in INSTANCE_TYPES or kind is Builtin or kind is Tensor:
        yield value.attrs.values()
    if isinstance(value, dict):
        yield dict.keys(value)
        yield dict.values(value)
    elif isinstance(value, list | set | frozenset | tuple | deque):
        yield value
    elif kind is Tensor and value.values is not None:
        yield value.values


def _fields(value: Value) -> tuple[Value, ...]:
    """What a value holds beside."""
    kind = value.__class__
    if kind is Function:
        return tuple(value.defaults)
    if kind in INSTANCE_TYPES:
        return value.cls, value.attrs
    if kind is Class:
        mro: tuple[Value, ...] = value.mro
        return mro
    if kind is ClassMethod or kind is StaticMethod:
        return (value.function,)
    if kind is Property:
        return value.getter, value.setter, value.deleter
    if kind is BoundMethod:
        return value.function, value.receiver
    if kind is Partial:
        return value.function, value.args, value.keywords
    if kind is Tensor:
        return value.shape, value.values, value.requires_grad
    return ()
