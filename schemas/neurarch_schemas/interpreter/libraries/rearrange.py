"""einops: its layers hold no parameters, EinMix aside; its functions work on tensors."""

from __future__ import annotations

from math import prod
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
                left = [
                    1 if each == "..." or each not in named else axes.get(each, Unknown(f"axis {each}"))
                    for each in output
                ]
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
        return module(
            name,
            {
                "layers": machine.import_module("einops.layers"),
                **dict.fromkeys(("rearrange", "repeat", "reduce", "einsum", "pack", "unpack", "asnumpy"), _tensor),
            },
        )
    return module(name, {}, unknown_data(name))


def _tensor(machine: Machine, value: Value = None, pattern: Value = "", *args: Value, **axes: Value) -> Value:
    from neurarch_schemas.interpreter.torch_nn.factories import stack
    from neurarch_schemas.interpreter.torch_nn.tensor import Tensor, like, unknown_tensor

    if isinstance(value, list | tuple) and value:
        value = stack(machine, value)
    if not isinstance(value, Tensor) or value.shape is None or not isinstance(pattern, str):
        return unknown_tensor(machine)
    shape = output_shape(value.shape, pattern, axes)
    keeps = shape is not None and prod(shape) == prod(value.shape) and _same_order(pattern)
    return like(value, shape, value.values if keeps else None)


def _same_order(pattern: str) -> bool:
    """Only sizes of one come or go, so the row-major values stay."""
    left, _, right = pattern.partition("->")
    names = [
        [name for name in side.replace("(", " ").replace(")", " ").split() if name not in ("1", "()")]
        for side in (left, right)
    ]
    return names[0] == names[1]


def _axes(side: str) -> list[list[str]]:
    """``"b (h d) 1"`` as ``[["b"], ["h", "d"], ["1"]]``."""
    found: list[list[str]] = []
    group: list[str] | None = None
    for token in side.replace("(", " ( ").replace(")", " ) ").split():
        if token == "(":
            group = []
        elif token == ")":
            found.append(group or [])
            group = None
        elif group is not None:
            group.append(token)
        else:
            found.append([token])
    return found


def output_shape(shape: tuple[int, ...], pattern: str, sizes: dict[str, Value]) -> tuple[int, ...] | None:
    """The shape a pattern of einops gives, or None where it does not follow from the input."""
    left_side, arrow, right_side = pattern.partition("->")
    if not arrow:
        return None
    left, right = _axes(left_side), _axes(right_side)
    known: dict[str, int] = {name: size for name, size in sizes.items() if isinstance(size, int)}
    rest: tuple[int, ...] = ()
    if ["..."] in left:
        place = left.index(["..."])
        extra = len(shape) - (len(left) - 1)
        if extra < 0:
            return None
        rest = shape[place : place + extra]
        shape = shape[:place] + shape[place + extra :]
        left = left[:place] + left[place + 1 :]
    if len(left) != len(shape):
        return None
    for group, size in zip(left, shape, strict=True):
        unknown = [name for name in group if not name.isdecimal() and name not in known]
        product = prod(int(name) if name.isdecimal() else known[name] for name in group if name not in unknown)
        if len(unknown) > 1 or (unknown and (product == 0 or size % product)):
            return None
        if unknown:
            known[unknown[0]] = size // product
    result: list[int] = []
    for group in right:
        if group == ["..."]:
            result.extend(rest)
            continue
        total = 1
        for name in group:
            if name == "...":
                total *= prod(rest)
            elif name.isdecimal():
                total *= int(name)
            elif name in known:
                total *= known[name]
            else:
                return None
        result.append(total)
    return tuple(result)
