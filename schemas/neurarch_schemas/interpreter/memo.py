"""Submodules that a program has built before, from the same class and equal arguments: copied, not built again.

A copy stands for the construction where that gave what class, arguments and program decide alone, and changed none of
them: nothing undecided was met on the way, the arguments hold what they held, no part of the program was written to
(``touched``), and the result is made of what a copy can be made of. Steps and modules count as if they were built.
"""

from __future__ import annotations

from collections.abc import Set
from itertools import chain
from operator import is_
from typing import TYPE_CHECKING, Any, NamedTuple

from neurarch_schemas.interpreter.copies import ATOMS, Copier, Foreign, Places
from neurarch_schemas.interpreter.torch_nn.tensor import Device
from neurarch_schemas.interpreter.values import Class, Instance, Unknown, Value

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine

_FEWEST_STEPS = 25
"""What takes fewer is built again as quickly."""
_STEPS_OF_A_MODULE = 1
"""What copying a module amounts to: what takes few steps of its own, beside copies, is built again as quickly."""
_MOST_OBJECTS = 150_000
"""In all that is recorded."""
_MOST_GIVEN = 2_000
"""Items in what one construction is given."""


class _Record(NamedTuple):
    """The module, what stands in it for the arguments' own objects, and what it cost."""

    module: Value
    arguments: list[Value]
    steps: int
    modules: int


class Memo:
    def __init__(self, machine: Machine, own: Set[int]) -> None:
        self.copies = 0
        """Copies given since ``begin``."""
        self.touched = False
        """Part of the program has been written to since then: nothing is recorded or copied any more."""
        self._machine = machine
        self._own = own
        self._steps: dict[Class, int] = {}
        """What a class took the first time."""
        self._records: dict[Any, _Record | None] = {}
        self._places: Places = {}
        self._states: dict[int, _State] = {}
        self._numbers: dict[Any, int] = {}
        self._objects = 0
        self._spared = 0
        """Steps that copies were given for."""

    def begin(self) -> None:
        """The program is as it was."""
        self.copies = 0
        self.touched = False
        self._states = {}

    def was_misled(self, is_changed: bool) -> bool:
        """Whether copies were given while the program changed in a way that was not told; it is not used any more."""
        if self.copies and is_changed and not self.touched:
            self._machine.memo = None
            self.copies = 0
            return True
        return False

    def forget(self) -> None:
        """The program is another one now."""
        self._records = {}
        self._places = {}
        self._objects = 0

    def touch(self, value: Value) -> None:
        """A value is about to change."""
        if id(value) in self._own:
            self.touched = True

    def instantiate(self, cls: Class, args: list[Value], kwargs: dict[str, Value]) -> Value:
        machine = self._machine
        meter = machine.meter
        known = self._steps.get(cls)
        if known is None:
            steps = meter.steps
            made = machine.instantiate(cls, args, kwargs)
            self._steps[cls] = meter.steps - steps if machine.is_module(made) else 0
            return made
        if known < _FEWEST_STEPS or self.touched or machine.importing or id(cls) not in self._own:
            return machine.instantiate(cls, args, kwargs)
        described = self._describe(cls, args, kwargs)
        if described is None:
            return machine.instantiate(cls, args, kwargs)
        key, arguments = described
        if key in self._records:
            record = self._records[key]
            return machine.instantiate(cls, args, kwargs) if record is None else self._copy(record, arguments)
        return self._record(key, arguments, cls, args, kwargs)

    def _record(
        self, key: Any, arguments: list[Value], cls: Class, args: list[Value], kwargs: dict[str, Value]
    ) -> Value:
        machine = self._machine
        meter = machine.meter
        steps, modules, doubts, spared = meter.steps, meter.modules, machine.doubts, self._spared
        made = machine.instantiate(cls, args, kwargs)
        if self.touched or self._objects > _MOST_OBJECTS:
            return made
        self._records[key] = None
        steps, modules = meter.steps - steps, meter.modules - modules
        if steps - (self._spared - spared) < modules * _STEPS_OF_A_MODULE:
            return made
        if machine.doubts == doubts and machine.is_module(made) and self._is_still(key, arguments, cls, args, kwargs):
            same = {id(each): each for each in arguments}
            copier = Copier(self._own, same, machine.state.setdefault("places", {}), self._places)
            try:
                copied = copier.copy(made)
            except Foreign:
                return made
            finally:
                self._objects += len(copier.made)
            self._records[key] = _Record(copied, arguments, steps, modules)
        return made

    def _copy(self, record: _Record, arguments: list[Value]) -> Value:
        machine = self._machine
        self.copies += 1
        self._spared += record.steps
        machine.meter.build(record.modules, record.steps)
        same = {id(old): new for old, new in zip(record.arguments, arguments, strict=True)}
        places = machine.state.setdefault("places", {})
        return Copier(self._own, same, self._places, places).copy(record.module)

    def _is_still(
        self, key: Any, arguments: list[Value], cls: Class, args: list[Value], kwargs: dict[str, Value]
    ) -> bool:
        now = self._describe(cls, args, kwargs)
        return now is not None and now[0] == key and len(now[1]) == len(arguments) and all(map(is_, now[1], arguments))

    # what a construction is given

    def _describe(self, cls: Class, args: list[Value], kwargs: dict[str, Value]) -> tuple[Any, list[Value]] | None:
        """A key that equal arguments share, and the objects in them that can change, in order; None without one."""
        found: list[Value] = []
        try:
            given = [self._part(each, found) for each in args]
            named = [(name, self._part(each, found)) for name, each in kwargs.items()]
        except Foreign:
            return None
        return (cls, tuple(given), tuple(named)), found

    def _part(self, value: Value, found: list[Value]) -> Any:
        kind = value.__class__
        if kind in ATOMS:
            return _atom(value)
        if id(value) in self._own:
            return id(value)
        if kind is tuple:
            return tuple(self._part(each, found) for each in value)
        if found or (kind is not Instance and kind is not list and kind is not dict):
            raise Foreign  # with two of them, one might hold what is the other's
        state = self._states.get(id(value))
        if state is None or not state.is_current():
            state = self._states[id(value)] = _State(value, self._own)
            state.number = self._numbers.setdefault(state.key, len(self._numbers))
        found.extend(state.objects)
        return "state", state.number


def _atom(value: Value) -> Any:
    kind = value.__class__
    if kind is Unknown:
        return kind, value.reason, value.data
    return (kind, value) if kind is not Device else (kind, value.type, value.index)


class _State:
    """What an object holds, at a moment: a key that equal ones share."""

    def __init__(self, value: Value, own: Set[int]) -> None:
        self.objects: list[Value] = []
        self.number = 0
        self._own = own
        self._indices: dict[int, int] = {}
        self._views: list[Any] = []
        self._instances: list[tuple[Instance, Value, Class]] = []
        self._items = 0
        self.key = self._read(value)
        self._held = [tuple(view) for view in self._views]
        self._lengths = list(map(len, self._held))
        self._flat = list(chain.from_iterable(self._held))

    def is_current(self) -> bool:
        return (
            list(map(len, self._views)) == self._lengths
            and all(map(is_, chain.from_iterable(self._views), self._flat))
            and all(each.attrs is attrs and each.cls is cls for each, attrs, cls in self._instances)
        )

    def _read(self, value: Value) -> Any:
        """Raises Foreign."""
        kind = value.__class__
        if kind in ATOMS:
            return _atom(value)
        if id(value) in self._own:
            return id(value)
        if kind is tuple:
            return "tuple", *map(self._read, value)
        known = self._indices.get(id(value))
        if known is not None:
            return "again", known
        if kind is list or kind is dict:
            self._items += len(value)
        if self._items > _MOST_GIVEN:
            raise Foreign
        self._indices[id(value)] = len(self.objects)
        self.objects.append(value)
        if (
            kind is Instance
            and "_modules" not in value.attrs
            and (value.cls.node is None or id(value.cls) in self._own)
        ):
            self._instances.append((value, value.attrs, value.cls))
            return "object", value.cls, self._read(value.attrs)
        if kind is dict:
            self._views += (value.keys(), value.values())
            return "dict", *[(self._read(key), self._read(item)) for key, item in value.items()]
        if kind is list:
            self._views.append(value)
            return "list", *map(self._read, value)
        raise Foreign
