"""What constructors of layers share: parameters that a flag switches off, sizes given once or for each dimension."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from neurarch_schemas.interpreter.torch_nn.base import new_parameter
from neurarch_schemas.interpreter.torch_nn.tensor import Tensor
from neurarch_schemas.interpreter.values import Instance, Unknown, Value

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine

Initializer: TypeAlias = Callable[..., None]
"""``__init__`` of a layer: the machine, the module, and the arguments as torch names them."""


def parameter(machine: Machine, self: Instance, name: str, *shape: Value) -> None:
    self.attrs["_parameters"][name] = new_parameter(machine, shape)


def optional(machine: Machine, self: Instance, name: str, present: Value, *shape: Value) -> None:
    """A parameter that a flag switches off; it stays registered as None."""
    if type(present) is Unknown:
        self.attrs["_parameters"][name] = new_parameter(machine, (present,))
    elif machine.truth(present):
        parameter(machine, self, name, *shape)
    else:
        self.attrs["_parameters"][name] = None


def repeated(machine: Machine, value: Value, count: int) -> Value:
    """``3`` or ``(3, 3)`` as a tuple of ``count``."""
    if type(value) is Unknown:
        return (value,) * count
    if isinstance(value, str):
        return value
    if isinstance(value, int | float | Tensor):
        return (value,) * count
    items = tuple(machine.iterate(value))
    return items * count if len(items) == 1 else items
