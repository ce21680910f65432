"""A program whose file has run, kept for the next construction: what the last one changed is put back.

Building each class of a file in a program of its own would run the file, and what it imports, once for each class.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from operator import attrgetter, is_
from typing import Any

from neurarch_schemas.interpreter.budgets import Meter
from neurarch_schemas.interpreter.machine import Machine, Site
from neurarch_schemas.interpreter.memo import Memo
from neurarch_schemas.interpreter.prototypes import Prototypes
from neurarch_schemas.interpreter.scopes import Frame
from neurarch_schemas.interpreter.torch_nn.tensor import Tensor
from neurarch_schemas.interpreter.values import (
    INSTANCE_TYPES,
    MISSING,
    BoundMethod,
    Builtin,
    Class,
    ClassMethod,
    Function,
    Generator,
    LazyImport,
    Partial,
    Property,
    PythonModule,
    StaticMethod,
    Value,
)

_PLAIN = frozenset((int, str, float, bool, type(None), LazyImport))
_SHELF = 64
_FIELDS = ("cls", "attrs", "shape", "values", "dtype", "requires_grad")
_OF_INSTANCES = ("places", "unknown attributes", "forward depth")
"""What libraries remember of instances is told by identity, which the next instances may have again."""


class Kept:
    """A machine right after it has run a file's module.

    All that its modules hold is watched: names, classes, objects, default values, what functions close over. A module
    that a construction is the first to import is watched from then on; what its body did to others stays done.
    """

    def __init__(self, machine: Machine, module: PythonModule) -> None:
        self.machine = machine
        self.module = module
        self._frame: Frame = machine.frame
        self._taints = list(machine.taints)
        self._branches = dict(machine.branches)
        self._state = _copied(machine.state)
        self.own: set[int] = set()
        """The identities of all that is part of the program."""
        self._former: list[tuple[Value, ...]] = []
        """What has been seen and is not held any more, kept for its identity."""
        self._modules: dict[str, Value] = {}
        self._views: list[Any] = []
        """Lists, sets, keys and values of dictionaries, in views that follow their changes."""
        self._owners: list[tuple[Any, int]] = []
        """Whose they are, and the place of its first."""
        self._held: list[tuple[Value, ...]] = []
        """What each holds when nothing is changed."""
        self._shelves: list[tuple[list[Any], list[int], list[Value]]] = []
        """Some views each with their lengths and all they hold, to be compared in one go."""
        self._shelved = 0
        self._namespaces: dict[int, int] = {}
        """The place of the first view of a module's names."""
        self._empty: list[Any] = []
        self._fields: dict[str, tuple[list[Value], list[Value]]] = {name: ([], []) for name in _FIELDS}
        """By a field that a program may exchange: the objects and what it is."""
        self._beyond = False
        """Something changed that cannot be put back."""
        self._is_ready = False
        self.was_changed = False
        """Whether there was anything to put back."""
        self._watch_modules()
        self.prototypes = Prototypes(self)
        self.memo = Memo(machine, self.own)
        machine.memo = None if self._beyond else self.memo
        machine.keeper = self

    def restored(self) -> bool:
        """Put everything back, where that is not done yet; False where it cannot be done."""
        if self._is_ready:
            return True
        machine = self.machine
        self.was_changed = True
        if self._beyond or machine.unrepeatable or machine.import_sites & machine.decisions.keys():
            return False
        modules = machine.modules
        if not all(map(is_, map(modules.get, self._modules), self._modules.values())):
            return False
        exchanged = self._are_exchanged()
        if exchanged:
            self._put_fields_back()
        filled = list(filter(None, self._empty))
        for each in filled:
            each.clear()
        changed = self._changed()
        self.was_changed = bool(exchanged or filled or changed)
        for owner, first in {self._owners[index][1]: self._owners[index] for index in changed}.values():
            if isinstance(owner, dict):
                _refill(owner, self._held[first], self._held[first + 1])
            elif isinstance(owner, list):
                list.clear(owner)
                list.extend(owner, self._held[first])
            else:
                return False
        self._watch_modules()
        self._is_ready = True
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
        for name in _OF_INSTANCES:
            machine.state.pop(name, None)
        machine.state.update(_copied(self._state))
        self._is_ready = False
        self.memo.begin()
        return True

    def is_as_it_was(self) -> bool:
        """Whether nothing is changed at the moment; modules that a table remembers would be imported again."""
        machine = self.machine
        filled = any(each and not _holds_modules(each) for each in self._empty)
        return not (filled or machine.unrepeatable or self._are_exchanged() or self._changed())

    @contextmanager
    def importing(self) -> Iterator[None]:
        """While the body of a module runs that a construction needs."""
        filled = list(filter(None, self._empty))
        changed = {index: _identities(self._views[index]) for index in self._changed()}
        before = [_identities(each) for each in filled]
        yield
        if [_identities(each) for each in filled] != before or any(
            _identities(self._views[index]) != identities for index, identities in changed.items()
        ):
            self._beyond = True  # by the construction and by the module, and only one of them is to stay
        for index in self._changed():
            if index not in changed:
                self.memo.forget()
                self._former.append(self._held[index])
                self._held[index] = tuple(self._views[index])
                self._shelve(index // _SHELF)
                self._watch(self._held[index])
        own = set(map(id, filled))
        filled = [each for each in self._empty if each and id(each) not in own]
        self._empty = [each for each in self._empty if not each or id(each) in own]
        if filled:
            self.memo.forget()
        for each in filled:
            self._hold(each)
            self._watch((*dict.keys(each), *dict.values(each)) if isinstance(each, dict) else each)
        self._watch_modules()

    def stored(self, module: PythonModule, name: str) -> None:
        """What a module gives by a star import or a table is stored under its name, where it would be found again."""
        first = self._namespaces.get(id(module.namespace))
        if first is not None and name not in self._held[first]:
            for index, item in ((first, name), (first + 1, module.namespace[name])):
                self._held[index] = (*self._held[index], item)
                if index < self._shelved:
                    self._shelve(index // _SHELF)
            self._watch((module.namespace[name],))

    def made(self, module: PythonModule) -> None:
        """A module of ours that a construction is the first to import."""
        self._watch_module(module)

    def _are_exchanged(self) -> bool:
        """Whether some object has another class or dictionary, some tensor another shape, values or type."""
        return not all(
            all(map(is_, map(attrgetter(name), objects), fields)) for name, (objects, fields) in self._fields.items()
        )

    def _put_fields_back(self) -> None:
        for name, (objects, fields) in self._fields.items():
            for value, field in zip(objects, fields, strict=True):
                setattr(value, name, field)

    def _changed(self) -> list[int]:
        """The places of the views that hold something else now."""
        changed: list[int] = []
        if self._shelved < len(self._views):
            for shelf in range(self._shelved // _SHELF, -(-len(self._views) // _SHELF)):
                self._shelve(shelf)
            self._shelved = len(self._views)
        for shelf, (views, lengths, flat) in enumerate(self._shelves):
            if list(map(len, views)) == lengths and all(map(is_, chain.from_iterable(views), flat)):
                continue
            for index, view in enumerate(views, shelf * _SHELF):
                held = self._held[index]
                if len(view) == len(held) and all(map(_is_resolved, view, held)):
                    self._held[index] = tuple(view)
                else:
                    changed.append(index)
            self._shelve(shelf)
        return changed

    def _shelve(self, shelf: int) -> None:
        part = slice(shelf * _SHELF, (shelf + 1) * _SHELF)
        held = self._held[part]
        filled = self._views[part], list(map(len, held)), list(chain.from_iterable(held))
        self._shelves[shelf : shelf + 1] = [filled]

    def _watch_modules(self) -> None:
        modules = self.machine.modules
        if len(modules) == len(self._modules):
            return
        for name, module in modules.items():
            if name not in self._modules:
                if not isinstance(module, PythonModule):
                    self._watch((module,))
                elif module.loading or module.file is None:
                    self._watch_module(module)
                else:
                    continue  # its file has not run yet
                self._modules[name] = module

    def _watch_module(self, module: PythonModule) -> None:
        if id(module) not in self.own:
            self.own.add(id(module))
            self._namespaces[id(module.namespace)] = len(self._views)
            self._hold(module.namespace)
            self._watch(module.namespace.values())

    def _hold(self, container: Any) -> None:
        self.own.add(id(container))
        if not container:
            self._empty.append(container)
            return
        first = len(self._views)
        for view in _views(container):
            self._owners.append((container, first))
            held = tuple(view)
            self._views.append(view)
            self._held.append(held)

    def _field(self, name: str, value: Value, field: Value) -> None:
        objects, fields = self._fields[name]
        objects.append(value)
        fields.append(field)

    def _watch(self, values: Iterable[Value]) -> None:
        """Everything of the program that a construction could change, found from what a module holds."""
        seen, plain = self.own, _PLAIN
        pending: list[Value] = list(values)
        while pending:
            value = pending.pop()
            kind = value.__class__
            if kind in plain or id(value) in seen:
                continue
            seen.add(id(value))
            if kind is Function:
                self._hold(value.attrs)
                if value.defaults:
                    self._hold(value.defaults)
                    pending += value.defaults
                if value.kwdefaults:
                    self._hold(value.kwdefaults)
                    pending += value.kwdefaults.values()
                pending += value.attrs.values()
                pending += self._closure(value.frame)
            elif kind is Class:
                self._hold(value.namespace)
                pending += value.namespace.values()
                pending += value.mro
                if value.metaclass is not None:
                    pending.append(value.metaclass)
            elif kind is Builtin:
                self._hold(value.attrs)
                pending += value.attrs.values()
            elif kind is tuple or kind is frozenset:
                pending += value
            elif kind is ClassMethod or kind is StaticMethod:
                pending.append(value.function)
            elif kind is Property:
                pending += (value.getter, value.setter, value.deleter)
            elif kind is BoundMethod:
                pending += (value.function, value.receiver)
            elif kind is Partial:
                pending += (value.function, value.args, value.keywords)
            elif kind is PythonModule:
                seen.discard(id(value))
                if value.file is None:
                    self._watch_module(value)
            else:
                self._watch_held(value, pending)

    def _watch_held(self, value: Value, pending: list[Value]) -> None:
        """Objects, containers and tensors."""
        kind = value.__class__
        if kind in INSTANCE_TYPES:
            self._field("cls", value, value.cls)
            self._field("attrs", value, value.attrs)
            self._hold(value.attrs)
            pending.append(value.cls)
            pending += value.attrs.values()
        elif kind is Tensor:
            self._field("shape", value, value.shape)
            self._field("values", value, value.values)
            self._field("dtype", value, value.dtype)
            self._field("requires_grad", value, value.requires_grad)
            if value.values and id(value.values) not in self.own:
                self._hold(value.values)  # written in place, item by item
        if isinstance(value, dict):
            self._hold(value)
            pending += dict.keys(value)
            pending += dict.values(value)
        elif isinstance(value, list | set | deque):
            self._hold(value)
            pending += value
        elif isinstance(value, tuple):
            pending += value
        elif kind is Generator or (hasattr(kind, "__next__") and kind not in INSTANCE_TYPES):
            self._beyond = True  # reading it changes it
            self.machine.memo = None

    def _closure(self, frame: Frame | None) -> Iterator[Value]:
        """What the frames around a function hold."""
        while frame is not None and frame.parent is not None:
            if not frame.is_class and id(frame) not in self.own:
                self.own.add(id(frame))
                self._hold(frame.locals)
                yield from frame.locals.values()
            frame = frame.parent


def _holds_modules(container: Any) -> bool:
    return isinstance(container, dict) and all(isinstance(each, PythonModule) for each in container.values())


def _copied(state: dict[str, Any]) -> dict[str, Any]:
    return {
        name: dict(value) if name in _OF_INSTANCES and isinstance(value, dict) else value
        for name, value in state.items()
    }


def _identities(view: Any) -> list[int]:
    return list(map(id, view))


def _views(container: Any) -> tuple[Any, ...]:
    if isinstance(container, OrderedDict):
        return OrderedDict.keys(container), OrderedDict.values(container)  # those of dict have an order of their own
    return (dict.keys(container), dict.values(container)) if isinstance(container, dict) else (container,)


def _is_resolved(now: Value, before: Value) -> bool:
    return now is before or (before.__class__ is LazyImport and now is before.found)


def _refill(table: dict[Value, Value], keys: tuple[Value, ...], values: tuple[Value, ...]) -> None:
    ordered = isinstance(table, OrderedDict)
    (OrderedDict.clear if ordered else dict.clear)(table)
    put = OrderedDict.__setitem__ if ordered else dict.__setitem__
    for key, value in zip(keys, values, strict=True):
        resolved = value.__class__ is LazyImport and value.found is not MISSING
        put(table, key, value.found if resolved else value)
