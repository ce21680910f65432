"""Helpers to write a modelled module down."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from neurarch_schemas.interpreter.values import Builtin, Class, PythonModule, Unknown, Value

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine

Function = Callable[..., Value]


def module(name: str, entries: Mapping[str, Value], missing: Callable[[str], Value] | None = None) -> PythonModule:
    """A module with these names. Host functions take the machine first and become builtins."""
    made = PythonModule(name, None, True)
    made.loading = True
    made.namespace.update({key: wrap(key, value) for key, value in entries.items()})
    made.missing = missing if missing is not None else unknown_data(name)
    made.namespace["__version__"] = "0"
    return made


def wrap(name: str, value: Value) -> Value:
    if callable(value) and type(value).__name__ in ("function", "method", "builtin_function_or_method"):
        return Builtin(name, value)
    return value


def plain(function: Callable[..., Any]) -> Function:
    """A host function over plain values; any unknown argument makes the result unknown."""

    def call(machine: Machine, *args: Value, **kwargs: Value) -> Value:
        for value in (*args, *kwargs.values()):
            if type(value) is Unknown:
                return Unknown(value.reason, data=True)
        plain_args = [
            item(value, machine) if (item := getattr(type(value), "interpreted_item", None)) else value
            for value in args
        ]
        for value in plain_args:
            if type(value) is Unknown:
                return value
        return function(*plain_args, **kwargs)

    return call


def unknown_data(name: str) -> Callable[[str], Value]:
    return lambda attribute: Unknown(f"{name}.{attribute} is not modelled", data=True)


def unknown_any(name: str) -> Callable[[str], Value]:
    return lambda attribute: Unknown(f"{name}.{attribute} is not modelled")


def nothing(machine: Machine, *args: Value, **kwargs: Value) -> None:
    """A function without an effect we care about."""


def method(name: str, function: Function) -> Builtin:
    return Builtin(name, function, binds=True)


def new_class(
    machine: Machine, name: str, module_name: str, methods: Mapping[str, Function], bases: tuple[Class, ...] = ()
) -> Class:
    namespace: dict[str, Value] = {key: method(key, function) for key, function in methods.items()}
    return Class(machine, name, bases, namespace, module_name)
