"""Libraries that shape no parameter: standard modules nobody models, and tools that only decorate or report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neurarch_schemas.interpreter.libraries import beartype_forms
from neurarch_schemas.interpreter.libraries.library import module, unknown_data
from neurarch_schemas.interpreter.values import PythonModule, TypingForm, Value

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine


def build(machine: Machine, name: str) -> PythonModule:
    top = name.partition(".")[0]
    if top == "jaxtyping":
        return module(name, {"jaxtyped": beartype_forms.decorator}, TypingForm)
    if top == "tqdm":
        return module(name, {"tqdm": _first, "trange": lambda machine, *args, **kwargs: range(*args)})
    return module(name, {}, unknown_data(name))


def _first(machine: Machine, iterable: Value = (), *args: Value, **kwargs: Value) -> Value:
    return iterable
