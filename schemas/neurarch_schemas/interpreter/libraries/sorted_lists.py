"""heapq and bisect, on lists of numbers or names."""

from __future__ import annotations

import bisect
import heapq
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

from neurarch_schemas.interpreter.libraries.library import module
from neurarch_schemas.interpreter.values import PythonModule, Unknown, Value

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine

_LOOK = ("bisect", "bisect_left", "bisect_right")
_WRITE = {
    "heapq": ("heapify", "heappush", "heappop", "heappushpop", "heapreplace"),
    "bisect": ("insort", "insort_left", "insort_right"),
}
_PLAIN = (int, float, str)


def build(machine: Machine, name: str) -> PythonModule:
    host: ModuleType = heapq if name == "heapq" else bisect
    entries: dict[str, Value] = {key: _function(getattr(host, key), True) for key in _WRITE[name]}
    if name == "bisect":
        entries |= {key: _function(getattr(host, key), False) for key in _LOOK}
    return module(name, entries)


def _function(function: Callable[..., Any], writes: bool) -> Callable[..., Value]:
    def call(machine: Machine, values: Value, *args: Value, **kwargs: Value) -> Value:
        if not isinstance(values, list) or kwargs or not all(type(each) in _PLAIN for each in (*values, *args)):
            if writes:
                machine.taint(f"{function.__name__} of a list whose order is not told")
            return Unknown(f"{function.__name__} of a list whose order is not told", data=True)
        if writes:
            machine.touch(values)
        machine.meter.work(len(values))
        machine.meter.size(len(values) + 1)
        return function(values, *args)

    return call
