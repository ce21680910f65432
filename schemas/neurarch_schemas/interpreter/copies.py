"""Copies of values that a program has made, which share with them only what is part of the program itself."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Set
from typing import Any

from neurarch_schemas.interpreter.torch_nn.tensor import Device, DType, Tensor
from neurarch_schemas.interpreter.values import BoundMethod, Class, Instance, Partial, Unknown, Value

ATOMS = frozenset((int, float, str, bool, bytes, complex, type(None), DType, Device, Unknown, range))
"""Kinds of values that nobody can change."""
_MOST_DEEP = 60
_MOST = 20_000
"""Objects in one copy."""

Places = dict[tuple[int, str], Any]
"""Of submodules, by their owner's identity and name."""


class Foreign(Exception):
    """Something a copy cannot be made of."""


class Copier:
    """Makes one copy: what is shared within the values is shared in the copy.

    ``own`` are the identities of what is part of the program; ``made`` maps that of a value to what stands for it.
    ``places`` are those of the submodules that are copied, to which those of the copies are added as ``new_places``.
    """

    def __init__(
        self, own: Set[int], made: dict[int, Value], places: Places | None = None, new_places: Places | None = None
    ) -> None:
        self.made = made
        self._own = own
        self._places = places
        self._new_places = new_places
        self._depth = 0

    def copy(self, value: Value) -> Value:
        """Raises Foreign."""
        kind = value.__class__
        if kind in ATOMS:
            return value
        key = id(value)
        known = self.made.get(key)
        if known is not None:
            return known
        if key in self._own:
            return value
        make = _MAKERS.get(kind)
        if make is None or self._depth > _MOST_DEEP or len(self.made) > _MOST:
            raise Foreign
        self._depth += 1
        copied = make(self, value)
        self._depth -= 1
        return copied

    def _instance(self, value: Instance) -> Instance:
        cls = value.cls
        if cls.node is not None and id(cls) not in self._own:
            raise Foreign
        copied = self.made[id(value)] = Instance(cls)
        source = value.attrs
        self._fill(copied.attrs, source)
        if self._places is not None and self._new_places is not None:
            for name in source.get("_modules", ()):
                place = self._places.get((id(value), name))
                if place is not None:
                    self._new_places[id(copied), name] = place
        return copied

    def _dictionary(self, value: dict[Value, Value]) -> dict[Value, Value]:
        copied: dict[Value, Value] = {} if value.__class__ is dict else OrderedDict()
        self._fill(copied, value)
        return copied

    def _fill(self, copied: dict[Value, Value], source: dict[Value, Value]) -> None:
        made, own = self.made, self._own
        made[id(source)] = copied
        for key, item in source.items():
            if key.__class__ not in ATOMS:
                key = self.copy(key)
            kind = item.__class__
            if kind in ATOMS or (kind is tuple and ATOMS.issuperset(map(type, item))):
                copied[key] = item
            elif kind is dict and id(item) not in made and id(item) not in own and not item:
                made[id(item)] = copied[key] = {}  # most are empty, and a call takes longer
            else:
                copied[key] = self.copy(item)

    def _list(self, value: list[Value]) -> list[Value]:
        if len(value) > _MOST:
            raise Foreign
        copied: list[Value] = []
        self.made[id(value)] = copied
        copied.extend(map(self.copy, value))
        return copied

    def _tuple(self, value: tuple[Value, ...]) -> tuple[Value, ...]:
        copied = tuple(map(self.copy, value))
        self.made[id(value)] = copied
        return copied

    def _set(self, value: set[Value]) -> set[Value]:
        if value and not ATOMS.issuperset(map(type, value)):
            raise Foreign
        copied = self.made[id(value)] = set(value)
        return copied

    def _tensor(self, value: Tensor) -> Tensor:
        values = None if value.values is None else list(value.values)
        if value.cls.node is not None and id(value.cls) not in self._own:
            raise Foreign
        copied = Tensor(value.cls, value.shape, value.dtype, values, value.reason, value.requires_grad)
        self.made[id(value)] = copied
        if value.attrs:
            self._fill(copied.attrs, value.attrs)
        return copied

    def _method(self, value: BoundMethod) -> BoundMethod:
        return BoundMethod(self.copy(value.function), self.copy(value.receiver))

    def _partial(self, value: Partial) -> Partial:
        if value.attrs:
            raise Foreign
        keywords = {key: self.copy(item) for key, item in value.keywords.items()}
        copied = self.made[id(value)] = Partial(self.copy(value.function), list(map(self.copy, value.args)), keywords)
        return copied

    def _class(self, value: Class) -> Class:
        if value.node is not None:
            raise Foreign
        return value


_MAKERS: dict[type, Callable[[Copier, Any], Value]] = {
    Instance: Copier._instance,
    dict: Copier._dictionary,
    OrderedDict: Copier._dictionary,
    list: Copier._list,
    tuple: Copier._tuple,
    set: Copier._set,
    Tensor: Copier._tensor,
    BoundMethod: Copier._method,
    Partial: Copier._partial,
    Class: Copier._class,
}
