"""Values of the evaluator: plain numbers and texts, layers, instances, and what is not known."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from neurarch_rules.facts.python_file import ClassFacts, Site

LARGEST = 10**15
"""Integers beyond are no sizes of a model."""
PLAIN = (int, float, str, bool, type(None))


class _Unknown:
    def __repr__(self) -> str:
        return "unknown"

    def __deepcopy__(self, memo: object) -> _Unknown:
        return self


UNKNOWN: Final = _Unknown()


@dataclass(frozen=True, slots=True)
class Value:
    """``of`` is a plain Python value, a Layer, an Instance, a ClassFacts or UNKNOWN; ``origin`` where it is written."""

    of: Any
    origin: Site | None = None

    @property
    def known(self) -> bool:
        return self.of is not UNKNOWN

    @property
    def number(self) -> int | float | None:
        return self.of if type(self.of) in (int, float) else None

    @property
    def integer(self) -> int | None:
        return self.of if type(self.of) is int else None


NOTHING = Value(UNKNOWN)


@dataclass(frozen=True)
class Layer:
    """A ``torch.nn`` layer with the arguments that are known by name."""

    name: str
    arguments: dict[str, Value]
    site: Site
    children: tuple[Value, ...] = ()

    def integer(self, name: str) -> int | None:
        return self.arguments.get(name, NOTHING).integer

    def number(self, name: str) -> int | float | None:
        return self.arguments.get(name, NOTHING).number


@dataclass
class Instance:
    """``look`` gives an expression over the instance (``self.config.block_size``) as its methods see it; None where it
    is not sure that the instance is constructed."""

    of: ClassFacts
    attributes: dict[str, Value] = field(default_factory=dict)
    look: Callable[[ast.expr, str], Value] | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Namespace:
    """Attributes by name, as of ``SimpleNamespace(n_head=12)``."""

    attributes: dict[str, Value]


@dataclass(frozen=True)
class Tensor:
    """A tensor or parameter by its shape; ``is_triangle`` for a causal mask."""

    shape: tuple[Value, ...]
    site: Site
    is_triangle: bool = False


@dataclass(frozen=True)
class Weight:
    layer: Layer


class Parsed:
    """What ``parse_args()`` returns: every option has its default unless the user says otherwise."""


def wrapped(item: Any, container: Value) -> Value:
    """An item of a container, which is a value already or a plain number."""
    return item if isinstance(item, Value) else Value(item, container.origin)


def is_given(site: Site) -> bool:
    """A value that a call or a dict of the file gives, not a default of a parameter or a field."""
    parents = site.placed.unit.parents
    above = parents.get(site.node, site.node)
    above = parents[above] if isinstance(above, ast.keyword) else above
    return isinstance(above, ast.Call | ast.Dict)
