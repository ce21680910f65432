"""The classes of tensors: plain ones, parameters and buffers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from neurarch_schemas.interpreter.libraries.library import method
from neurarch_schemas.interpreter.torch_nn import factories
from neurarch_schemas.interpreter.torch_nn.base import new_parameter
from neurarch_schemas.interpreter.torch_nn.tensor import Tensor, new_tensor
from neurarch_schemas.interpreter.values import (
    Builtin,
    Class,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine


def setup(machine: Machine) -> None:
    """The tensor classes, once."""
    if "torch.Tensor" in machine.state:
        return
    tensor = Class(machine, "Tensor", (), {}, "torch")
    tensor.metaclass = Class(machine, "_TensorMeta", (), {"__getattr__": method("__getattr__", _unbound)}, "torch")
    tensor.construct = factories.old_tensor("Tensor")
    machine.state["torch.Tensor"] = tensor
    parameter = Class(machine, "Parameter", (tensor,), {}, "torch.nn.parameter", construct=make_parameter)
    machine.state["torch.nn.Parameter"] = parameter
    uninitialized = Class(
        machine, "UninitializedParameter", (parameter,), {}, "torch.nn.parameter", construct=_uninitialized
    )
    machine.state["torch.nn.UninitializedParameter"] = uninitialized
    made_buffer = Class(machine, "Buffer", (tensor,), {}, "torch.nn.parameter", construct=_make_buffer)
    machine.state["torch.nn.Buffer"] = made_buffer
    for _name in ("Tensor",):
        tensor.namespace["__new__"] = _static(_new_tensor)
    parameter.namespace["__new__"] = _static(_new_parameter)


def _unbound(machine: Machine, cls: Class, name: str) -> Value:
    """``torch.Tensor.clone``: a method as a function of the tensor."""
    if name.startswith("__"):
        machine.fail("AttributeError", f"type object '{cls.name}' has no attribute '{name}'")

    def call(machine: Machine, tensor: Value, *args: Value, **kwargs: Value) -> Value:
        return machine.call(machine.get_attr(tensor, name), list(args), kwargs)

    return Builtin(name, call)


def _static(function: Any) -> Value:
    from neurarch_schemas.interpreter.values import StaticMethod

    return StaticMethod(Builtin("__new__", function))


def _new_tensor(machine: Machine, cls: Class, *args: Value, **kwargs: Value) -> Value:
    made = factories.old_tensor("Tensor")(machine, *args)
    made.cls = cls
    return made


def _new_parameter(
    machine: Machine, cls: Class, data: Value = None, requires_grad: Value = True, **kwargs: Value
) -> Value:
    made = make_parameter(machine, data, requires_grad)
    if isinstance(made, Tensor):
        made.cls = cls
    return made


def make_parameter(machine: Machine, data: Value = None, requires_grad: Value = True, **options: Value) -> Value:
    if data is None:
        data = new_tensor(machine, (0,))
    if type(data) is Unknown:
        return new_parameter(machine, None, data.reason)
    if not isinstance(data, Tensor):
        return machine.fail("TypeError", "Parameter data must be a tensor")
    made = new_parameter(machine, data.shape, data.reason)
    made.dtype = data.dtype
    made.values = data.values
    made.requires_grad = requires_grad
    return made


def _uninitialized(machine: Machine, *args: Value, **options: Value) -> Value:
    made = new_parameter(machine, None, "a lazy parameter has no shape before the first forward pass")
    made.cls = machine.state["torch.nn.UninitializedParameter"]
    return made


def _make_buffer(machine: Machine, data: Value = None, *, persistent: Value = True) -> Value:
    if not isinstance(data, Tensor):
        return Unknown("a buffer of an unknown tensor")
    made = new_tensor(machine, data.shape, data.values, data.dtype, data.reason, machine.state["torch.nn.Buffer"])
    made.attrs["persistent"] = persistent
    return made
