"""``torch.nn`` and the modules of functions below it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from neurarch_schemas.interpreter.libraries.library import module
from neurarch_schemas.interpreter.torch_nn import parametrize, shapes
from neurarch_schemas.interpreter.torch_nn.base import module_class
from neurarch_schemas.interpreter.torch_nn.containers import container_classes
from neurarch_schemas.interpreter.torch_nn.layers import layer_classes
from neurarch_schemas.interpreter.torch_nn.tensor import Tensor
from neurarch_schemas.interpreter.torch_nn.torch_module import tensor_function
from neurarch_schemas.interpreter.torch_nn.transformer import transformer_classes
from neurarch_schemas.interpreter.values import (
    Builtin,
    PythonModule,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine


_PARTS = (
    "activation",
    "linear",
    "conv",
    "batchnorm",
    "normalization",
    "container",
    "module",
    "loss",
    "dropout",
    "rnn",
    "pooling",
    "padding",
    "sparse",
    "transformer",
    "instancenorm",
    "flatten",
    "fold",
    "upsampling",
    "distance",
    "pixelshuffle",
)
"""Modules below torch.nn.modules, all in one."""


def nn(machine: Machine) -> PythonModule:
    entries: dict[str, Value] = {"Module": module_class(machine)}
    entries.update(layer_classes(machine))
    entries.update(container_classes(machine))
    entries.update(transformer_classes(machine))
    shapes.add_forwards(entries)
    entries["Parameter"] = machine.state["torch.nn.Parameter"]
    entries["Buffer"] = machine.state["torch.nn.Buffer"]
    entries["UninitializedParameter"] = machine.state["torch.nn.UninitializedParameter"]
    entries["DataParallel"] = _wrapper
    entries["factory_kwargs"] = lambda machine, kwargs: {}
    made = module(
        "torch.nn",
        entries,
        lambda name: Unknown(f"torch.nn.{name} is not modelled", data=name[:1] == "_" or name.islower()),
    )
    made.namespace["modules"] = made
    for part in _PARTS:
        made.namespace[part] = made
    return made


def _wrapper(machine: Machine, wrapped: Value, *args: Value, **kwargs: Value) -> Value:
    made = machine.call(module_class(machine), [], {})
    machine.set_attr(made, "module", wrapped)
    return made


def functional(machine: Machine) -> PythonModule:
    def missing(name: str) -> Value:
        return Builtin(name, tensor_function(name))

    return module("torch.nn.functional", dict(shapes.functions()), missing)


def init(machine: Machine) -> PythonModule:
    def same(machine: Machine, tensor: Value = None, *args: Value, **kwargs: Value) -> Value:
        if isinstance(tensor, Tensor):
            tensor.written()
            tensor.values = None
        return tensor

    def constant(machine: Machine, tensor: Value = None, value: Value = 0, *args: Value, **kwargs: Value) -> Value:
        return same(machine, tensor)

    gains = {
        "linear": 1.0,
        "conv1d": 1.0,
        "conv2d": 1.0,
        "conv3d": 1.0,
        "sigmoid": 1.0,
        "tanh": 5 / 3,
        "relu": math.sqrt(2),
    }
    return module(
        "torch.nn.init",
        {
            "calculate_gain": lambda machine, name, *args: gains.get(name, 1.0) if isinstance(name, str) else 1.0,
            "_calculate_fan_in_and_fan_out": _fans,
            "_calculate_correct_fan": lambda machine, tensor, mode: _fans(machine, tensor)[
                0 if mode == "fan_in" else 1
            ],
            "constant_": constant,
        },
        lambda name: Builtin(name, same),
    )


def _fans(machine: Machine, tensor: Value) -> Value:
    if not isinstance(tensor, Tensor) or tensor.shape is None or len(tensor.shape) < 2:
        unknown = Unknown("the fan of a tensor", data=True)
        return (unknown, unknown)
    field = math.prod(tensor.shape[2:])
    return (tensor.shape[1] * field, tensor.shape[0] * field)


def module_utils(machine: Machine) -> PythonModule:
    """``torch.nn.modules.utils``: sizes given as one number or one a dimension."""

    def ntuple(machine: Machine, length: Value, name: Value = "parse") -> Value:
        def parse(machine: Machine, value: Value) -> Value:
            if isinstance(value, tuple | list):
                return tuple(value)
            return (value,) * length

        return Builtin(str(name), parse)

    def repeated(machine: Machine, values: Value, times: Value) -> Value:
        return tuple(value for value in reversed(values) for _ in range(times))

    return module(
        "torch.nn.modules.utils",
        {
            "_ntuple": ntuple,
            **{name: ntuple(machine, length, name) for length, name in enumerate(_TUPLES, 1)},
            "_reverse_repeat_tuple": repeated,
        },
    )


_TUPLES = ("_single", "_pair", "_triple", "_quadruple")


def nn_utils(machine: Machine) -> PythonModule:
    return module(
        "torch.nn.utils",
        {
            "weight_norm": parametrize.weight_norm,
            "remove_weight_norm": parametrize.remove_weight_norm,
            "spectral_norm": parametrize.spectral_norm,
            "parametrize": machine.import_module("torch.nn.utils.parametrize"),
            "parametrizations": machine.import_module("torch.nn.utils.parametrizations"),
            "skip_init": lambda machine, cls, *args, **kwargs: machine.call(cls, list(args), kwargs),
        },
    )
