"""Layers that hold no tensors, and losses, whose class weights are buffers: they remember their arguments.

``plain.json`` has the arguments of each class (``tools/record_plain_layers.py``).
"""

from __future__ import annotations

import json
import os
from functools import cache
from typing import TYPE_CHECKING, Any

from neurarch_schemas.interpreter.torch_nn.layers.common import Initializer
from neurarch_schemas.interpreter.torch_nn.tensor import Tensor
from neurarch_schemas.interpreter.values import Instance, Unknown, Value

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine

_CLASS_WEIGHTS = ("weight", "pos_weight")
_ANYTHING = ("Identity",)
"""Classes that take any arguments and drop them."""


@cache
def signatures() -> dict[str, list[list[Any]]]:
    with open(os.path.join(os.path.dirname(__file__), "plain.json"), encoding="utf-8") as stream:
        found: dict[str, list[list[Any]]] = json.load(stream)
    return found


def remember(name: str) -> Initializer:
    """``__init__`` of a class in the table."""
    arguments = signatures()[name]
    names = [each[0] for each in arguments]
    defaults = {each[0]: each[1] for each in arguments if len(each) > 1}
    is_loss = "Loss" in name

    def init(machine: Machine, self: Instance, *args: Value, **kwargs: Value) -> None:
        if name in _ANYTHING:
            return
        if len(args) > len(names):
            machine.fail("TypeError", f"{name}() takes {len(names)} arguments but {len(args)} were given")
        given = dict(zip(names, args, strict=False))
        for key, value in kwargs.items():
            if key not in names or key in given:
                machine.fail("TypeError", f"{name}() got an unexpected argument '{key}'")
            given[key] = value
        for key in names:
            if key not in given and key not in defaults:
                machine.fail("TypeError", f"{name}() is missing the argument '{key}'")
        values = {**defaults, **given}
        if is_loss:
            for key in _CLASS_WEIGHTS:
                if key in values:
                    _keep_weights(machine, self, key, values.pop(key))
        if "Pool" in name and values.get("stride", 0) is None and not name.startswith("LP"):
            values["stride"] = values["kernel_size"]
        if "Pad" in name:
            values["padding"] = _sides(values["padding"], 2 * int(name[-2]))
        self.attrs.update(values)

    return init


def weighted_loss(
    machine: Machine,
    self: Instance,
    weight: Value = None,
    size_average: Value = None,
    reduce: Value = None,
    reduction: Value = "mean",
) -> None:
    """``_WeightedLoss``, which losses of programs derive from."""
    self.attrs["reduction"] = reduction
    _keep_weights(machine, self, "weight", weight)


def _keep_weights(machine: Machine, self: Instance, name: str, value: Value) -> None:
    if type(value) is Unknown:
        machine.taint(f"the class weights of {self.cls.name} are unknown: {value.reason}")
    self.attrs["_buffers"][name] = value if isinstance(value, Tensor) else None


def _sides(padding: Value, count: int) -> Value:
    return (padding,) * count if isinstance(padding, int) else padding
