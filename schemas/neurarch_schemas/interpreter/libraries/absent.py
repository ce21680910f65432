"""Libraries that shape no parameter: standard modules nobody models, and tools that only decorate or report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neurarch_schemas.interpreter.libraries.library import module, unknown_data
from neurarch_schemas.interpreter.values import Builtin, PythonModule, TypingForm, Value

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine


def build(machine: Machine, name: str) -> PythonModule:
    top = name.partition(".")[0]
    if top == "beartype":
        return module(name, {"beartype": _decorator, "beartype_this_package": _decorator}, _form)
    if top == "jaxtyping":
        return module(name, {"jaxtyped": _decorator}, _form)
    if top == "tqdm":
        return module(name, {"tqdm": _first, "trange": lambda machine, *args, **kwargs: range(*args)})
    return module(name, {}, unknown_data(name))


def _form(name: str) -> Value:
    return TypingForm(name)


def _decorator(machine: Machine, function: Value = None, **options: Value) -> Value:
    if function is None or options:
        return Builtin("decorator", lambda machine, function: function)
    return function


def _first(machine: Machine, iterable: Value = (), *args: Value, **kwargs: Value) -> Value:
    return iterable
