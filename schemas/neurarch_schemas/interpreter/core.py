"""What the parts of the machine may ask of each other."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn

from neurarch_schemas.interpreter.budgets import Meter
from neurarch_schemas.interpreter.scopes import Frame
from neurarch_schemas.interpreter.values import Class, PythonModule, Raised, Unknown, Value

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.memo import Memo
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


class Core(ABC):
    """State of one interpretation. The methods are implemented by the mixins that ``Machine`` is made of."""

    meter: Meter
    sources: Sources
    executors: dict[type, Callable[[Any, Frame], Value]]
    """The method for each kind of statement."""
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
    doubts: int
    memo: Memo | None
    eager: bool
    """Import parent packages and star imports at once, as Python does (registries filled by importing)."""

    @abstractmethod
    def evaluate(self, node: ast.expr, frame: Frame) -> Value: ...

    @abstractmethod
    def execute(self, body: list[ast.stmt], frame: Frame) -> Value: ...

    @abstractmethod
    def call(self, function: Value, args: list[Value], kwargs: dict[str, Value]) -> Value: ...

    @abstractmethod
    def call_method(self, receiver: Value, found: Value, args: list[Value]) -> Value: ...

    @abstractmethod
    def get_attr(self, value: Value, name: str) -> Value: ...

    @abstractmethod
    def find_attr(self, value: Value, name: str) -> Value:
        """As ``get_attr``; MISSING where it would raise AttributeError."""

    @abstractmethod
    def bind(self, found: Value, value: Value, cls: Class) -> Value: ...

    @abstractmethod
    def set_attr(self, value: Value, name: str, item: Value) -> None: ...

    @abstractmethod
    def del_attr(self, value: Value, name: str) -> None: ...

    @abstractmethod
    def type_of(self, value: Value) -> Class: ...

    @abstractmethod
    def is_instance(self, value: Value, classes: Value) -> Value: ...

    @abstractmethod
    def is_subclass(self, cls: Value, classes: Value) -> Value: ...

    @abstractmethod
    def truth(self, value: Value) -> bool:
        """Raises UnknownTruth."""

    @abstractmethod
    def iterate(self, value: Value) -> Iterator[Value]:
        """Raises UnknownTruth."""

    @abstractmethod
    def handler_for(self, node: ast.Try, error: Raised, frame: Frame) -> ast.ExceptHandler | None: ...

    @abstractmethod
    def finish(self, node: ast.Try, frame: Frame) -> None:
        """Run the ``finally`` block."""

    @abstractmethod
    def enter(self, item: ast.withitem, frame: Frame) -> Value:
        """Enter a context; the manager."""

    @abstractmethod
    def leave(self, manager: Value, error: Raised | None) -> bool:
        """Whether the manager swallows the error."""

    @abstractmethod
    def decide(
        self, unknown: Unknown, node: ast.AST, frame: Frame, yes: list[ast.stmt], no: list[ast.stmt]
    ) -> bool: ...

    @abstractmethod
    def is_module(self, value: Value) -> bool: ...

    @abstractmethod
    def format_string(self, text: str, args: list[Value], kwargs: dict[str, Value]) -> Value: ...

    @abstractmethod
    def assign(self, target: ast.expr, value: Value, frame: Frame) -> None: ...

    @abstractmethod
    def describe(self, error: Raised) -> str:
        """An error as one sentence."""

    def touch(self, value: Value) -> None:
        """Told before a value changes: it may be part of the program."""
        memo = self.memo
        if memo is not None and not memo.touched:
            memo.touch(value)

    @abstractmethod
    def taint(self, reason: str) -> None: ...

    @abstractmethod
    def raised(self, name: str, message: str = "") -> Raised: ...

    @abstractmethod
    def convert(self, error: Exception) -> Raised:
        """A host error as one of the interpreted program."""

    def fail(self, name: str, message: str = "") -> NoReturn:
        raise self.raised(name, message)

    @abstractmethod
    def where(self) -> str: ...

    @abstractmethod
    def binary(self, operator: type, left: Value, right: Value) -> Value: ...

    @abstractmethod
    def in_place(self, operator: type, left: Value, right: Value) -> Value: ...

    @abstractmethod
    def compare(self, operator: type, left: Value, right: Value) -> Value: ...

    @abstractmethod
    def subscript(self, value: Value, key: Value) -> Value: ...

    @abstractmethod
    def set_item(self, value: Value, key: Value, item: Value) -> None: ...

    @abstractmethod
    def del_item(self, value: Value, key: Value) -> None: ...

    @abstractmethod
    def make_class(self, node: ast.ClassDef, frame: Frame) -> Value: ...

    @abstractmethod
    def create_class(
        self,
        name: str,
        bases: list[Value],
        namespace: dict[str, Value],
        frame: Frame,
        keywords: dict[str, Value],
        node: ast.ClassDef | None = None,
        cell: Frame | None = None,
    ) -> Value: ...

    @abstractmethod
    def instantiate(self, cls: Class, args: list[Value], kwargs: dict[str, Value]) -> Value: ...

    @abstractmethod
    def new_instance(self, cls: Class, args: list[Value], kwargs: dict[str, Value]) -> Value: ...

    @abstractmethod
    def import_module(self, name: str) -> Value: ...

    @abstractmethod
    def import_statement(self, node: ast.Import | ast.ImportFrom, frame: Frame) -> None: ...

    @abstractmethod
    def module_attr(self, module: PythonModule, name: str) -> Value: ...

    @abstractmethod
    def resolve(self, lazy: Value, namespace: dict[str, Value], name: str) -> Value:
        """The value behind a lazy import, stored under the name it was bound to."""

    @abstractmethod
    def load_global(self, module: PythonModule, name: str) -> Value:
        """A module-level or builtin name, or MISSING."""

    @abstractmethod
    def lookup_class(self, name: str) -> Class:
        """One of our own classes by its dotted name."""
