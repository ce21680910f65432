"""weight_norm, spectral_norm (the hooks of old and the parametrizations of today), orthogonal, and pruning."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from neurarch_schemas.interpreter.libraries.library import module
from neurarch_schemas.interpreter.torch_nn.base import layer_class, new_parameter
from neurarch_schemas.interpreter.torch_nn.tensor import Tensor, like, new_tensor
from neurarch_schemas.interpreter.values import Class, Instance, PythonModule, Unknown, Value

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine


def _weight(machine: Machine, target: Instance, name: str) -> Tensor:
    found = target.attrs["_parameters"].get(name)
    if found is None:
        machine.fail("AttributeError", f"'{target.cls.name}' object has no parameter '{name}'")
    return found  # type: ignore[no-any-return]


def _magnitude_shape(weight: Tensor, dim: Value) -> tuple[int, ...] | None:
    if weight.shape is None:
        return None
    if dim is None or dim == -1:
        return ()
    place = dim % len(weight.shape)
    return tuple(size if index == place else 1 for index, size in enumerate(weight.shape))


def weight_norm(machine: Machine, target: Value, name: Value = "weight", dim: Value = 0) -> Value:
    """The hook: ``weight`` becomes ``weight_g`` and ``weight_v``, behind the other parameters."""
    if not machine.is_module(target):
        return target
    weight = _weight(machine, target, name)
    parameters = target.attrs["_parameters"]
    del parameters[name]
    parameters[f"{name}_g"] = new_parameter(machine, _magnitude_shape(weight, dim), weight.reason)
    parameters[f"{name}_v"] = new_parameter(machine, weight.shape, weight.reason)
    target.attrs[name] = like(weight, weight.shape)
    return target


def remove_weight_norm(machine: Machine, target: Value, name: Value = "weight") -> Value:
    if machine.is_module(target) and f"{name}_v" in target.attrs["_parameters"]:
        parameters = target.attrs["_parameters"]
        weight = parameters.pop(f"{name}_v")
        del parameters[f"{name}_g"]
        target.attrs.pop(name, None)
        parameters[name] = new_parameter(machine, weight.shape, weight.reason)
    return target


def _vectors(weight: Tensor, dim: int) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    if weight.shape is None:
        return None
    height = weight.shape[dim]
    return (height,), (prod(weight.shape) // max(height, 1),)


def _spectral_dim(target: Instance, dim: Value) -> int:
    if dim is not None:
        return int(dim)
    return 1 if any(base.name in ("_ConvTransposeNd", "ConvTranspose2d") for base in target.cls.mro) else 0


def spectral_norm(
    machine: Machine,
    target: Value,
    name: Value = "weight",
    n_power_iterations: Value = 1,
    eps: Value = 1e-12,
    dim: Value = None,
) -> Value:
    if not machine.is_module(target):
        return target
    weight = _weight(machine, target, name)
    del target.attrs["_parameters"][name]
    target.attrs["_parameters"][f"{name}_orig"] = weight
    target.attrs[name] = like(weight, weight.shape)
    vectors = _vectors(weight, _spectral_dim(target, dim))
    for suffix, shape in zip(("u", "v"), vectors or (None, None), strict=True):
        target.attrs["_buffers"][f"{name}_{suffix}"] = new_tensor(machine, shape, reason=weight.reason)
    return target


def _parametrized(machine: Machine, target: Instance, name: str) -> tuple[Instance, bool]:
    """The ParametrizationList of a tensor, made where there is none yet."""
    modules = target.attrs["_modules"]
    if "parametrizations" not in modules or modules["parametrizations"] is None:
        modules["parametrizations"] = machine.call(machine.lookup_class("torch.nn.ModuleDict"), [], {})
        original = target.cls
        made = Class(machine, f"Parametrized{original.name}", (original,), {}, original.module)
        target.cls = made
    table = modules["parametrizations"].attrs["_modules"]
    if name in table:
        return table[name], False
    made_list: Instance = machine.call(machine.state["ParametrizationList"], [], {})
    table[name] = made_list
    return made_list, True


def register(
    machine: Machine, target: Value, name: Value, parametrization: Value, originals: Value = None, **options: Value
) -> Value:
    """``register_parametrization``; ``originals`` are shapes where the parametrization splits the tensor."""
    if not machine.is_module(target):
        machine.taint("an unknown module is parametrized")
        return target
    table = target.attrs["_parameters"] if name in target.attrs["_parameters"] else target.attrs["_buffers"]
    weight = table.get(name)
    holder, new = _parametrized(machine, target, name)
    if new:
        if weight is None:
            machine.fail("ValueError", f"Module has no parameter or buffer '{name}'")
        del table[name]
        target.attrs[name] = like(weight, weight.shape)
        if originals is None and machine.find_attr(parametrization, "right_inverse").__class__.__name__ != "_Missing":
            result = machine.call(machine.get_attr(parametrization, "right_inverse"), [weight], {})
            if isinstance(result, tuple | list):
                originals = [each.shape if isinstance(each, Tensor) else None for each in result]
            elif isinstance(result, Tensor) and result.shape != weight.shape:
                machine.taint("a parametrization changes a shape in a way that is not followed")
        if originals is None:
            holder.attrs["_parameters"]["original"] = weight
        else:
            for index, shape in enumerate(originals):
                holder.attrs["_parameters"][f"original{index}"] = new_parameter(machine, shape, weight.reason)
    modules = holder.attrs["_modules"]
    modules[str(len(modules))] = parametrization
    return target


def new_weight_norm(machine: Machine, target: Value, name: Value = "weight", dim: Value = 0) -> Value:
    if not machine.is_module(target):
        return target
    weight = _weight(machine, target, name)
    made = machine.call(machine.state["_WeightNorm"], [dim], {})
    return register(machine, target, name, made, [_magnitude_shape(weight, dim), weight.shape])


def new_spectral_norm(
    machine: Machine,
    target: Value,
    name: Value = "weight",
    n_power_iterations: Value = 1,
    eps: Value = 1e-12,
    dim: Value = None,
) -> Value:
    if not machine.is_module(target):
        return target
    weight = _weight(machine, target, name)
    made = machine.call(machine.state["_SpectralNorm"], [], {})
    if weight.shape is not None and len(weight.shape) > 1:
        vectors = _vectors(weight, _spectral_dim(target, dim))
        assert vectors is not None
        made.attrs["_buffers"]["_u"] = new_tensor(machine, vectors[0])
        made.attrs["_buffers"]["_v"] = new_tensor(machine, vectors[1])
    elif weight.shape is None:
        machine.taint(f"spectral_norm of an unknown shape: {weight.reason}")
    holder, _ = _parametrized(machine, target, name)
    del target.attrs["_parameters"][name]
    target.attrs[name] = like(weight, weight.shape)
    holder.attrs["_parameters"]["original"] = weight
    holder.attrs["_modules"]["0"] = made
    return target


def orthogonal(
    machine: Machine,
    target: Value,
    name: Value = "weight",
    orthogonal_map: Value = None,
    *,
    use_trivialization: Value = True,
) -> Value:
    if not machine.is_module(target):
        return target
    weight = _weight(machine, target, name)
    made = machine.call(machine.state["_Orthogonal"], [], {})
    if use_trivialization:
        made.attrs["_buffers"]["base"] = new_tensor(machine, weight.shape, reason=weight.reason)
    return register(machine, target, name, made, None)


def is_parametrized(machine: Machine, target: Value, tensor_name: Value = None) -> Value:
    found = target.attrs["_modules"].get("parametrizations") if machine.is_module(target) else None
    return found is not None and (tensor_name is None or tensor_name in found.attrs["_modules"])


def remove(machine: Machine, target: Value, tensor_name: Value, leave_parametrized: Value = True) -> Value:
    table = target.attrs["_modules"]["parametrizations"].attrs["_modules"]
    table.pop(tensor_name)
    weight = target.attrs.pop(tensor_name)
    target.attrs["_parameters"][tensor_name] = new_parameter(machine, weight.shape, weight.reason)
    if not table:
        del target.attrs["_modules"]["parametrizations"]
        target.cls = target.cls.bases[0]
    return target


def build(machine: Machine, name: str) -> PythonModule:
    if "ParametrizationList" not in machine.state:

        def nothing(machine: Machine, self: Instance, *args: Any) -> None:
            return None

        for key in ("ParametrizationList", "_WeightNorm", "_SpectralNorm", "_Orthogonal"):
            machine.state[key] = layer_class(machine, key, nothing, "torch.nn.utils.parametrize")
    return {
        "torch.nn.utils.parametrize": lambda: module(
            name,
            {
                "register_parametrization": register,
                "is_parametrized": is_parametrized,
                "remove_parametrizations": remove,
                "ParametrizationList": machine.state["ParametrizationList"],
                "cached": lambda machine: Unknown("a context manager", data=True),
            },
        ),
        "torch.nn.utils.parametrizations": lambda: module(
            name, {"weight_norm": new_weight_norm, "spectral_norm": new_spectral_norm, "orthogonal": orthogonal}
        ),
        "torch.nn.utils.weight_norm": lambda: module(
            name, {"weight_norm": weight_norm, "WeightNorm": Unknown("WeightNorm", data=True)}
        ),
        "torch.nn.utils.spectral_norm": lambda: module(name, {"spectral_norm": spectral_norm}),
    }[name]()
