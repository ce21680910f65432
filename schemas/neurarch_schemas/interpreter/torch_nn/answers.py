"""What many modules of torch answer with: contexts and decorators without effect, no device, no flag."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neurarch_schemas.interpreter.libraries.library import new_class, nothing
from neurarch_schemas.interpreter.values import (
    Builtin,
    Class,
    Instance,
    Value,
)

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine


def context_class(machine: Machine, name: str, module_name: str = "torch") -> Class:
    """Usable as a context manager, a decorator, or both."""

    def call(machine: Machine, self: Instance, function: Value) -> Value:
        return function

    cls = new_class(
        machine,
        name,
        module_name,
        {"__init__": nothing, "__enter__": lambda machine, self: self, "__exit__": nothing, "__call__": call},
    )

    def construct(machine: Machine, *args: Value, **kwargs: Value) -> Value:
        if len(args) == 1 and not kwargs and type(args[0]).__name__ in ("Function", "BoundMethod", "Class"):
            return args[0]
        return Instance(cls)

    cls.construct = construct
    return cls


def decorator(machine: Machine, function: Value = None, *args: Value, **options: Value) -> Value:
    """``@torch.compile`` and ``@torch.jit.script``, with and without arguments."""
    if function is None or isinstance(function, str | bool):
        return Builtin("decorator", lambda machine, function: function)
    return function


def false(machine: Machine, *args: Value, **kwargs: Value) -> bool:
    return False


def true(machine: Machine, *args: Value, **kwargs: Value) -> bool:
    return True


def zero(machine: Machine, *args: Value, **kwargs: Value) -> int:
    return 0
