"""functools."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neurarch_schemas.interpreter.libraries.library import module
from neurarch_schemas.interpreter.values import (
    MISSING,
    Builtin,
    CachedProperty,
    Class,
    Function,
    Partial,
    PythonModule,
    Unknown,
    Value,
)
from neurarch_schemas.interpreter.work import charge

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine


def build(machine: Machine, name: str) -> PythonModule:
    return module(
        name,
        {
            "partial": machine.host_classes[Partial],
            "partialmethod": lambda machine, function, *args, **kwargs: _partialmethod(function, list(args), kwargs),
            "wraps": lambda machine, wrapped, *args, **kwargs: Builtin(
                "wraps", lambda machine, wrapper: copy_names(wrapper, wrapped)
            ),
            "update_wrapper": lambda machine, wrapper, wrapped, *args, **kwargs: copy_names(wrapper, wrapped),
            "WRAPPER_ASSIGNMENTS": ("__module__", "__name__", "__qualname__", "__doc__"),
            "lru_cache": _cache,
            "cache": _cache,
            "reduce": _reduce,
            "cached_property": lambda machine, function: CachedProperty(function, getattr(function, "name", "")),
            "total_ordering": lambda machine, cls: cls,
            "singledispatch": _identity,
            "cmp_to_key": lambda machine, function: function,
        },
    )


def _identity(machine: Machine, value: Value) -> Value:
    return value


def _partialmethod(function: Value, args: list[Value], kwargs: dict[str, Value]) -> Value:
    return Builtin(
        "partialmethod",
        lambda machine, self, *more, **named: machine.call(function, [self, *args, *more], {**kwargs, **named}),
        binds=True,
    )


def copy_names(wrapper: Value, wrapped: Value) -> Value:
    if isinstance(wrapper, Function):
        wrapper.name = getattr(wrapped, "name", wrapper.name)
        wrapper.qualname = getattr(wrapped, "qualname", wrapper.qualname)
    attrs = getattr(wrapper, "attrs", None)
    if isinstance(attrs, dict):
        attrs.update(getattr(wrapped, "attrs", None) or {})
        attrs["__wrapped__"] = wrapped
    return wrapper


def _cache(machine: Machine, function: Value = None, *args: Value, **kwargs: Value) -> Value:
    if isinstance(function, Function | Builtin):
        return _memoized(function)
    if isinstance(function, Class):
        return function
    return Builtin("lru_cache", lambda machine, function: _memoized(function))


_UNCHANGEABLE = (bool, int, float, str, type(None), Class, PythonModule, Unknown)


def _memoized(function: Value) -> Value:
    """The function with a memory; only a Function keeps its defaults and frame visible, so it is wrapped lightly."""
    known: dict[Value, Value] = {}
    shared: dict[Value, Value] = {}
    """Results that a program may change, where ``Kept`` sees them."""

    def call(machine: Machine, *args: Value, **kwargs: Value) -> Value:
        try:
            key = (args, tuple(kwargs.items()))
            charge(machine.meter, key)
            hash(key)
        except TypeError:
            return machine.call(function, list(args), kwargs)
        for results in (known, shared):
            if key in results:
                return results[key]
        found = machine.call(function, list(args), kwargs)
        (known if found.__class__ in _UNCHANGEABLE else shared)[key] = found
        return found

    def clear(machine: Machine) -> None:
        known.clear()
        shared.clear()

    made = Builtin(getattr(function, "name", "cached"), call, binds=True)
    made.attrs["__wrapped__"] = function
    made.attrs["cache_clear"] = Builtin("cache_clear", clear)
    made.attrs["<results>"] = shared
    return made


def _reduce(machine: Machine, function: Value, values: Value, initial: Value = MISSING) -> Value:
    total = initial
    for value in machine.iterate(values):
        total = value if total is MISSING else machine.call(function, [total, value], {})
    if total is MISSING:
        machine.fail("TypeError", "reduce() of empty iterable with no initial value")
    return total
