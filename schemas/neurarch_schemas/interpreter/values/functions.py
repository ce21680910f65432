"""What can be called, classes aside: functions of the program and ours, methods, partials, and running generators."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from neurarch_schemas.interpreter.values.classes import Class
from neurarch_schemas.interpreter.values.value import Value

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine
    from neurarch_schemas.interpreter.scopes import Frame


class Function:
    """A function of the program with the frame it closes over."""

    __slots__ = (
        "attrs",
        "defaults",
        "frame",
        "is_generator",
        "kwdefaults",
        "machine",
        "module",
        "name",
        "node",
        "qualname",
    )

    def __init__(
        self,
        machine: Machine,
        node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda,
        frame: Frame,
        name: str,
        qualname: str,
        defaults: list[Value],
        kwdefaults: dict[str, Value],
        is_generator: bool,
    ) -> None:
        self.machine = machine
        self.node = node
        self.frame = frame
        self.name = name
        self.qualname = qualname
        self.defaults = defaults
        self.kwdefaults = kwdefaults
        self.is_generator = is_generator
        self.module = frame.module
        self.attrs: dict[str, Value] = {}

    def __call__(self, *args: Value, **kwargs: Value) -> Value:
        return self.machine.call(self, list(args), kwargs)

    def __repr__(self) -> str:
        return f"<function {self.qualname}>"


class Builtin:
    """A function of ours: ``function(machine, *args, **kwargs)``. ``binds`` makes it a method when found on a class.

    ``parameters`` are the parameter names told to ``inspect.signature``, where known.
    """

    __slots__ = ("attrs", "binds", "function", "name", "parameters")

    def __init__(
        self, name: str, function: Callable[..., Value], binds: bool = False, parameters: str | None = None
    ) -> None:
        self.name = name
        self.function = function
        self.binds = binds
        self.parameters = parameters
        self.attrs: dict[str, Value] = {}

    def __repr__(self) -> str:
        return f"<built-in function {self.name}>"


class BoundMethod:
    __slots__ = ("function", "receiver")

    def __init__(self, function: Value, receiver: Value) -> None:
        self.function = function
        self.receiver = receiver

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BoundMethod) and self.function is other.function and self.receiver is other.receiver

    def __hash__(self) -> int:
        return hash((id(self.function), id(self.receiver)))

    def __call__(self, *args: Value, **kwargs: Value) -> Value:
        function = self.function
        machine = function.machine if isinstance(function, Function) else type_machine(self.receiver)
        return machine.call(self, list(args), kwargs)

    def __repr__(self) -> str:
        return f"<bound method {getattr(self.function, 'name', '?')}>"


def type_machine(value: Value) -> Machine:
    """The machine that owns a value with a class."""
    machine: Machine = (value if isinstance(value, Class) else value.cls).machine
    return machine


class NativeMethod:
    """A method of a host value, ``"a b".split``."""

    __slots__ = ("name", "receiver")

    def __init__(self, receiver: Value, name: str) -> None:
        self.receiver = receiver
        self.name = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NativeMethod) and self.receiver is other.receiver and self.name == other.name

    def __hash__(self) -> int:
        return hash((id(self.receiver), self.name))


class Partial:
    __slots__ = ("args", "attrs", "function", "keywords")

    function: Value
    args: list[Value]
    keywords: dict[str, Value]

    def __init__(self, function: Value, args: list[Value], keywords: dict[str, Value]) -> None:
        if isinstance(function, Partial):
            args = [*function.args, *args]
            keywords = {**function.keywords, **keywords}
            function = function.function
        self.function = function
        self.args = args
        self.keywords = keywords
        self.attrs: dict[str, Value] = {}


class Generator:
    """A suspended interpreted function; a host iterator, so host code can consume it."""

    __slots__ = ("iterator", "returned")

    def __init__(self, iterator: Iterator[Value]) -> None:
        self.iterator = iterator
        self.returned: Value = None

    def __iter__(self) -> Generator:
        return self

    def __next__(self) -> Value:
        return next(self.iterator)
