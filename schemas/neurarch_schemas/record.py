"""Frozen records: used like ``@dataclass(frozen=True)``, without what one costs at start-up.

A dataclass writes and compiles the source of its methods when it is defined: some thirty of them, with the modules that
``dataclasses`` imports, were a third of a cold ``--check``. Records share their methods instead. Type checkers
treat both alike (``typing.dataclass_transform``).
"""

from __future__ import annotations

from typing import Any, ClassVar, NoReturn, TypeVar, dataclass_transform

R = TypeVar("R", bound="Record")


@dataclass_transform(frozen_default=True)
class Record:
    """Each annotation of a subclass is a field, with its default if it has one; defaults must never be changed.

    Equal by fields within one class, hashable where all fields are; without slots, so that ``cached_property`` works.
    """

    _fields: ClassVar[tuple[str, ...]] = ()
    _names: ClassVar[frozenset[str]] = frozenset()
    _required: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._fields += tuple(cls.__annotations__)
        cls._names = frozenset(cls._fields)
        cls._required = frozenset(name for name in cls._fields if not hasattr(cls, name))

    def __init__(self, *values: Any, **named: Any) -> None:
        state = self.__dict__  # holds what was given; the class holds the defaults
        state.update(zip(self._fields, values, strict=False))
        state.update(named)
        given = len(values) + len(named)
        if len(state) != given or not self._names >= named.keys() or not self._required <= state.keys():
            raise TypeError(f"{type(self).__name__}({', '.join(self._fields)}) was given {values} and {named}")

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"{type(self).__name__}.{name} is read-only")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self).__name__}.{name} is read-only")

    def _values(self) -> tuple[Any, ...]:
        return tuple([getattr(self, name) for name in self._fields])

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self is other or self._values() == other._values()

    def __hash__(self) -> int:
        return hash(self._values())

    def __repr__(self) -> str:
        pairs = zip(self._fields, self._values(), strict=True)
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in pairs)})"


def replace(record: R, **changes: Any) -> R:
    """A copy with some fields changed; raises TypeError for names that are not fields."""
    return type(record)(**{**dict(zip(record._fields, record._values(), strict=True)), **changes})
