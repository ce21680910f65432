"""The evaluator's state and its bounds, and how a part ends early."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

from neurarch_rules.facts.python_file import ClassFacts, PythonFile, Site
from neurarch_rules.facts.python_values.events import Events
from neurarch_rules.facts.python_values.values import Value

if TYPE_CHECKING:
    from neurarch_schemas.documents.python_units import Placed

STEPS = 20_000
DEPTH = 12


class Stop(Exception):
    """The constructor surely ends here."""


class Return(Exception):
    def __init__(self, value: Value) -> None:
        self.value = value


class Doubt(Exception):
    """The function may have returned here: what it does from here on is not known."""


class OutOfSteps(Exception):
    pass


@dataclass
class Scope:
    placed: Placed
    names: dict[str, Value]
    owner: ClassFacts | None = None
    this: str = ""
    certain: bool = True


class State(ABC):
    def __init__(self, file: PythonFile, arguments: dict[str, Value], names: dict[str, Value]) -> None:
        self.file = file
        self.found = Events()
        self.steps = 0
        self.depth = 0
        self.construction: Site | None = None
        self.explicit = False
        self.times = 1
        """How often the loops around run what is evaluated."""
        self.globals = names
        self.arguments = arguments
        """Defaults of ``add_argument``, by attribute name."""

    def _tick(self) -> None:
        self.steps += 1
        if self.steps > STEPS:
            raise OutOfSteps

    @abstractmethod
    def _value(self, node: ast.expr, scope: Scope) -> Value: ...

    @abstractmethod
    def _call(self, node: ast.Call, scope: Scope) -> Value: ...

    @abstractmethod
    def _block(self, body: list[ast.stmt], scope: Scope) -> None: ...
