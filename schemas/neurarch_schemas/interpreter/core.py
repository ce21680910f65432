"""What the parts of the machine may ask of each other."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, NoReturn

from neurarch_schemas.interpreter.budgets import Meter
from neurarch_schemas.interpreter.scopes import Frame
from neurarch_schemas.interpreter.values import Class, PythonModule, Raised, Unknown, Value

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.sources import Sources

HOST_ERRORS = (
    TypeError,
    ValueError,
    KeyError,
    IndexError,
    AttributeError,
    ZeroDivisionError,
    OverflowError,
    StopIteration,
    AssertionError,
    NotImplementedError,
    UnicodeError,
    RuntimeError,
    LookupError,
    ArithmeticError,
)


class Core:
    """State of one interpretation. The methods are implemented by the mixins that ``Machine`` is made of."""

    meter: Meter
    sources: Sources
    classes: dict[str, Class]
    """Classes of ours by their dotted name, ``builtins.int``, ``torch.nn.Linear``."""
    host_classes: dict[type, Class]
    modules: dict[str, Value]
    builtins: dict[str, Value]
    frame: Frame
    """The innermost frame, for line numbers and ``super()``."""
    import_guard: int
    """Enclosing ``try`` statements that catch ImportError."""
    taints: list[str]
    """Reasons why the result may not be what the program builds."""
    eager: bool
    """Import parent packages and star imports at once, as Python does (registries filled by importing)."""

    def evaluate(self, node: ast.expr, frame: Frame) -> Value:
        raise NotImplementedError

    def execute(self, body: list[ast.stmt], frame: Frame) -> Value:
        raise NotImplementedError

    def call(self, function: Value, args: list[Value], kwargs: dict[str, Value]) -> Value:
        raise NotImplementedError

    def call_method(self, receiver: Value, found: Value, args: list[Value]) -> Value:
        raise NotImplementedError

    def get_attr(self, value: Value, name: str) -> Value:
        raise NotImplementedError

    def find_attr(self, value: Value, name: str) -> Value:
        """As ``get_attr``; MISSING where it would raise AttributeError."""
        raise NotImplementedError

    def bind(self, found: Value, value: Value, cls: Class) -> Value:
        raise NotImplementedError

    def set_attr(self, value: Value, name: str, item: Value) -> None:
        raise NotImplementedError

    def del_attr(self, value: Value, name: str) -> None:
        raise NotImplementedError

    def type_of(self, value: Value) -> Class:
        raise NotImplementedError

    def is_instance(self, value: Value, classes: Value) -> Value:
        raise NotImplementedError

    def is_subclass(self, cls: Value, classes: Value) -> Value:
        raise NotImplementedError

    def truth(self, value: Value) -> bool:
        """Raises UnknownTruth."""
        raise NotImplementedError

    def iterate(self, value: Value) -> Iterator[Value]:
        """Raises UnknownTruth."""
        raise NotImplementedError

    def decide(self, unknown: Unknown, node: ast.AST, frame: Frame, yes: list[ast.stmt], no: list[ast.stmt]) -> bool:
        raise NotImplementedError

    def taint(self, reason: str) -> None:
        raise NotImplementedError

    def raised(self, name: str, message: str = "") -> Raised:
        raise NotImplementedError

    def convert(self, error: Exception) -> Raised:
        """A host error as one of the interpreted program."""
        raise NotImplementedError

    def fail(self, name: str, message: str = "") -> NoReturn:
        raise self.raised(name, message)

    def where(self) -> str:
        raise NotImplementedError

    def binary(self, operator: type, left: Value, right: Value) -> Value:
        raise NotImplementedError

    def in_place(self, operator: type, left: Value, right: Value) -> Value:
        raise NotImplementedError

    def compare(self, operator: type, left: Value, right: Value) -> Value:
        raise NotImplementedError

    def subscript(self, value: Value, key: Value) -> Value:
        raise NotImplementedError

    def set_item(self, value: Value, key: Value, item: Value) -> None:
        raise NotImplementedError

    def del_item(self, value: Value, key: Value) -> None:
        raise NotImplementedError

    def make_class(self, node: ast.ClassDef, frame: Frame) -> Value:
        raise NotImplementedError

    def create_class(
        self,
        name: str,
        bases: list[Value],
        namespace: dict[str, Value],
        frame: Frame,
        keywords: dict[str, Value],
        node: ast.ClassDef | None = None,
        cell: Frame | None = None,
    ) -> Value:
        raise NotImplementedError

    def instantiate(self, cls: Class, args: list[Value], kwargs: dict[str, Value]) -> Value:
        raise NotImplementedError

    def new_instance(self, cls: Class, args: list[Value], kwargs: dict[str, Value]) -> Value:
        raise NotImplementedError

    def import_module(self, name: str) -> Value:
        raise NotImplementedError

    def import_statement(self, node: ast.Import | ast.ImportFrom, frame: Frame) -> None:
        raise NotImplementedError

    def module_attr(self, module: PythonModule, name: str) -> Value:
        raise NotImplementedError

    def resolve(self, lazy: Value, namespace: dict[str, Value], name: str) -> Value:
        """The value behind a lazy import, stored under the name it was bound to."""
        raise NotImplementedError

    def load_global(self, module: PythonModule, name: str) -> Value:
        """A module-level or builtin name, or MISSING."""
        raise NotImplementedError

    def lookup_class(self, name: str) -> Class:
        """One of our own classes by its dotted name."""
        raise NotImplementedError
