"""einops: its layers hold no parameters, EinMix aside; its functions work on tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neurarch_schemas.interpreter.libraries.library import module, unknown_data
from neurarch_schemas.interpreter.values import Instance, PythonModule, Unknown, Value

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine


def build(machine: Machine, name: str) -> PythonModule:
    if name in ("einops.layers.torch", "einops.layers.flax"):
        from neurarch_schemas.interpreter.torch_nn.base import layer_class, new_parameter

        def mix(
            machine: Machine,
            self: Instance,
            pattern: Value,
            weight_shape: Value,
            bias_shape: Value = None,
            **axes: Value,
        ) -> None:
            def shape(names: Value) -> Value:
                sizes = [1 if each == "1" else axes.get(each, Unknown(f"axis {each}")) for each in names.split()]
                return tuple(sizes)

            self.attrs["_parameters"]["weight"] = new_parameter(machine, shape(weight_shape))
            self.attrs["_parameters"]["bias"] = None
            if bias_shape:
                # a bias has a size of one on every output axis it does not name
                output = pattern.partition("->")[2].replace("(", " ").replace(")", " ").split()
                named = bias_shape.split()
                left = [1 if each == "..." or each not in named else axes.get(each, Unknown(f"axis {each}")) for each in output]
                self.attrs["_parameters"]["bias"] = new_parameter(machine, tuple(left))

        def plain(machine: Machine, self: Instance, pattern: Value, *args: Value, **axes: Value) -> None:
            self.attrs.update(pattern=pattern, axes_lengths=axes)

        return module(
            name,
            {
                "Rearrange": layer_class(machine, "Rearrange", plain, name),
                "Reduce": layer_class(machine, "Reduce", plain, name),
                "EinMix": layer_class(machine, "EinMix", mix, name),
            },
        )
    if name == "einops":
        return module(name, {"layers": machine.import_module("einops.layers"), **dict.fromkeys(("rearrange", "repeat", "reduce", "einsum", "pack", "unpack", "asnumpy"), _tensor)})
    return module(name, {}, unknown_data(name))


def _tensor(machine: Machine, value: Value = None, *args: Value, **kwargs: Value) -> Value:
    from neurarch_schemas.interpreter.torch_nn.tensor import unknown_tensor

    return unknown_tensor(machine)
