"""Functions of torch (and numpy) that make tensors."""

from __future__ import annotations

import math
from math import prod
from typing import TYPE_CHECKING, Any

from neurarch_schemas.interpreter.torch_nn.picking import nonzero
from neurarch_schemas.interpreter.torch_nn.tensor import (
    MOST_VALUES,
    DType,
    Shape,
    Tensor,
    broadcast,
    dtypes,
    like,
    new_tensor,
)
from neurarch_schemas.interpreter.torch_nn.views import permute
from neurarch_schemas.interpreter.values import Class, Unknown, Value

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine


def sizes(machine: Machine, args: tuple[Value, ...], given: Value = None) -> tuple[Shape | None, str]:
    """A shape from ``f(2, 3)`` or ``f((2, 3))``, or None and the reason."""
    items: Any = given if given is not None else args
    if len(items) == 1 and not isinstance(items[0], int) if isinstance(items, tuple | list) else False:
        items = items[0]
    if type(items) is Unknown:
        return None, items.reason
    if isinstance(items, int):
        items = (items,)
    if isinstance(items, Tensor):
        if items.values is None:
            return None, "a size is the value of a tensor"
        items = tuple(items.values)
    result = []
    for item in machine.iterate(items):
        if type(item) is Unknown:
            return None, item.reason
        if isinstance(item, Tensor):
            item = item.interpreted_item(machine)
            if type(item) is Unknown:
                return None, item.reason
        if not isinstance(item, int):
            if isinstance(item, float):
                machine.fail("TypeError", f"a size must be an integer, not {item!r}")
            return None, f"a size is {machine.type_of(item).name}"
        if item < 0:
            machine.fail("RuntimeError", f"negative dimension {item}")
        result.append(int(item))
    return tuple(result), ""


def kind_of(machine: Machine, dtype: Value) -> DType | None:
    """The type a ``dtype`` argument names; Python's own ``bool``, ``int`` and ``float`` do too."""
    if isinstance(dtype, DType):
        return dtype
    for name, wide in (("bool", "bool"), ("int", "int64"), ("float", "float64")):
        if dtype is machine.builtins[name]:
            return dtypes(machine)[wide]
    return None


def cast(values: list[Any] | None, kind: DType | None) -> list[Any] | None:
    """Values as a type holds them."""
    if values is None or kind is None or kind.is_complex or not all(isinstance(each, int | float) for each in values):
        return values
    if kind.is_floating_point:
        return [float(each) for each in values]
    if not all(math.isfinite(each) for each in values):
        return None
    return [bool(each) for each in values] if kind.name == "bool" else [int(each) for each in values]


def filled(value: Any) -> Any:
    """``zeros``, ``ones``; None for factories of arbitrary values."""

    def make(
        machine: Machine, *args: Value, size: Value = None, shape: Value = None, dtype: Value = None, **options: Value
    ) -> Tensor:
        given = size if size is not None else shape
        found, reason = sizes(machine, args, given)
        values = None
        if value is not None and found is not None and prod(found) <= MOST_VALUES:
            values = [value] * prod(found)
        kind = kind_of(machine, dtype)
        return new_tensor(machine, found, cast(values, kind), kind, reason)

    return make


def logspace(
    machine: Machine, start: Value, end: Value = None, steps: Value = 100, *args: Value, **options: Value
) -> Tensor:
    base = options.pop("base", args[0] if args else 10.0)
    exponents = linspace(machine, start, end, steps, **options)
    if exponents.values is not None and isinstance(base, int | float):
        exponents.values = [float(base) ** value for value in exponents.values]
    else:
        exponents.values = None
    return exponents


def full(machine: Machine, size: Value, fill_value: Value = None, *, dtype: Value = None, **options: Value) -> Tensor:
    found, reason = sizes(machine, (size,))
    values = None
    if found is not None and isinstance(fill_value, int | float) and prod(found) <= MOST_VALUES:
        values = [fill_value] * prod(found)
    kind = kind_of(machine, dtype)
    values = cast(values, kind)
    if kind is None and isinstance(fill_value, bool | int):
        kind = dtypes(machine)["bool" if isinstance(fill_value, bool) else "int64"]
    return new_tensor(machine, found, values, kind, reason)


def random_integers(
    machine: Machine, *args: Value, size: Value = None, dtype: Value = None, **options: Value
) -> Tensor:
    given = size if size is not None else args[-1]
    found, reason = sizes(machine, (given,))
    return new_tensor(machine, found, None, dtypes(machine)["int64"], reason)


def like_factory(value: Any) -> Any:
    def make(machine: Machine, source: Value, *args: Value, dtype: Value = None, **options: Value) -> Value:
        if not isinstance(source, Tensor):
            return Unknown("a tensor like another", data=True)
        values = (
            [value] * prod(source.shape)
            if value is not None and source.shape is not None and prod(source.shape) <= MOST_VALUES
            else None
        )
        made = like(source, source.shape, values)
        if isinstance(dtype, DType):
            made.dtype = dtype
        return made

    return make


def full_like(machine: Machine, source: Value, fill_value: Value = None, **options: Value) -> Value:
    made = like_factory(None)(machine, source, **options)
    fill = _number(fill_value, machine)
    size = prod(made.shape) if isinstance(made, Tensor) and made.shape is not None else MOST_VALUES + 1
    if size <= MOST_VALUES and isinstance(fill, int | float):
        made.values = [fill] * size
    return made


def _number(value: Value, machine: Machine) -> Any:
    if isinstance(value, Tensor):
        return value.interpreted_item(machine)
    return value


def arange(machine: Machine, *args: Value, dtype: Value = None, **options: Value) -> Tensor:
    named = [options[key] for key in ("start", "end", "stop", "step") if key in options]
    bounds = [_number(value, machine) for value in (*args, *named)]
    bounds = [bound for bound in bounds if not isinstance(bound, DType)]
    for bound in bounds:
        if type(bound) is Unknown:
            return new_tensor(machine, None, reason=bound.reason)
    start, stop, step = (0, bounds[0], 1) if len(bounds) == 1 else (*bounds, 1)[:3]
    if step == 0:
        machine.fail("RuntimeError", "step must be nonzero")
    count = max(0, math.ceil((stop - start) / step))
    values = [start + index * step for index in range(count)] if count <= MOST_VALUES else None
    floating = any(isinstance(bound, float) for bound in bounds)
    kinds = dtypes(machine)
    kind = dtype if isinstance(dtype, DType) else kinds["float32" if floating else "int64"]
    return new_tensor(machine, (count,), values, kind)


def closed_range(machine: Machine, start: Value, end: Value, step: Value = 1, **options: Value) -> Tensor:
    """``torch.range``, which holds its end."""
    if not all(isinstance(bound, int | float) for bound in (start, end, step)) or not step:
        return new_tensor(machine, None, reason="torch.range")
    count = int((end - start) / step) + 1
    values = [start + place * step for place in range(count)] if count <= MOST_VALUES else None
    return new_tensor(machine, (count,), values)


def linspace(
    machine: Machine,
    start: Value,
    end: Value = None,
    steps: Value = 100,
    *args: Value,
    dtype: Value = None,
    **options: Value,
) -> Tensor:
    end = options.get("stop", end)
    steps = options.get("num", steps)
    start, end, steps = (_number(value, machine) for value in (start, end, steps))
    if type(steps) is Unknown or not isinstance(steps, int):
        return new_tensor(machine, None, reason="an unknown number of steps")
    if type(start) is Unknown or type(end) is Unknown or steps > MOST_VALUES or isinstance(start, list):
        return new_tensor(machine, (steps,))
    step = (end - start) / (steps - 1) if steps > 1 else 0
    values: list[Any] = [float(start + index * step) for index in range(steps)]
    if steps > 1:
        values[-1] = float(end)
    kind = dtype if isinstance(dtype, DType) else None
    if kind is not None and not kind.is_floating_point:
        values = [int(value) for value in values]
    return new_tensor(machine, (steps,), values, kind)


def flatten(machine: Machine, data: Value, numbers: bool = False) -> tuple[list[Any] | None, Shape | None]:
    """Values and shape of nested lists; (None, shape) where values are unknown.

    ``numbers``: tensors of one item among them are numbers, as in ``torch.tensor([torch.rand(1)])``.
    """
    if isinstance(data, Tensor):
        one = numbers and data.cls.name != "ndarray" and data.shape is not None and prod(data.shape) == 1
        return data.values, () if one else data.shape
    if isinstance(data, list | tuple):
        if not data:
            return [], (0,)
        if len(data) > 4 * MOST_VALUES:
            _inner_values, inner = flatten(machine, data[0], numbers)
            return None, None if inner is None else (len(data), *inner)
        parts = [flatten(machine, item, numbers) for item in data]
        inner = parts[0][1]
        if inner is None or any(part[1] != inner for part in parts):
            return None, None
        values: list[Any] | None = []
        for part in parts:
            if part[0] is None or values is None:
                values = None
            else:
                values.extend(part[0])
        return values, (len(data), *inner)
    if isinstance(data, bool | int | float | complex):
        return [data], ()
    if isinstance(data, range):
        return list(data) if len(data) <= MOST_VALUES else None, (len(data),)
    if type(data) is Unknown:
        return None, ()
    return None, None


def tensor(machine: Machine, data: Value = (), dtype: Value = None, *args: Value, **options: Value) -> Tensor:
    given = kind_of(machine, dtype)
    if isinstance(data, Tensor):
        values = cast(data.values, given)
        made = like(data, data.shape, None if values is None else list(values))
        made.dtype = given or data.dtype
        return made
    if type(data) is Unknown:
        return new_tensor(machine, None, reason=data.reason)
    if not isinstance(data, list | tuple | int | float | range | complex):
        data = list(machine.iterate(data))
    values, shape = flatten(machine, data, numbers=True)
    kinds = dtypes(machine)
    if given is not None:
        kind, values = given, cast(values, given)
    elif values and all(isinstance(value, bool) for value in values):
        kind = kinds["bool"]
    elif values and all(isinstance(value, int) for value in values):
        kind = kinds["int64"]
    else:
        kind = kinds["float32"]
    return new_tensor(machine, shape, values, kind)


def old_tensor(cls_name: str) -> Any:
    """``torch.Tensor(2, 3)``, ``torch.FloatTensor([1.0])``."""

    def make(machine: Machine, *args: Value, **options: Value) -> Tensor:
        if args and all(isinstance(arg, int) and not isinstance(arg, bool) for arg in args):
            found, reason = sizes(machine, args)
            return new_tensor(machine, found, None, None, reason)
        if not args:
            return new_tensor(machine, (0,), [])
        return tensor(machine, args[0])

    return make


def cat(machine: Machine, tensors: Value, dim: Value = 0, **options: Value) -> Tensor:
    dim = options.get("axis", dim)
    items = list(machine.iterate(tensors))
    if (
        not items
        or any(not isinstance(item, Tensor) or item.shape is None for item in items)
        or not isinstance(dim, int)
    ):
        return new_tensor(machine, None, reason="a concatenation of unknown tensors")
    rank = len(items[0].shape)
    if not rank:
        machine.fail("RuntimeError", "zero-dimensional tensor cannot be concatenated")
    place = dim % rank
    total = sum(item.shape[place] for item in items)
    values = None
    if all(item.values is not None for item in items):
        rows = prod(items[0].shape[:place])
        sizes_of = [prod(item.shape[place:]) for item in items]
        values = [
            value
            for row in range(rows)
            for item, size in zip(items, sizes_of, strict=True)
            for value in item.values[row * size : (row + 1) * size]
        ]
    return like(items[0], (*items[0].shape[:place], total, *items[0].shape[place + 1 :]), values)


def stack(machine: Machine, tensors: Value, dim: Value = 0, **options: Value) -> Tensor:
    dim = options.get("axis", dim)
    items = list(machine.iterate(tensors))
    if items and all(isinstance(item, int | float) for item in items):
        return tensor(machine, items)
    if (
        not items
        or any(not isinstance(item, Tensor) or item.shape is None for item in items)
        or not isinstance(dim, int)
    ):
        return new_tensor(machine, None, reason="a stack of unknown tensors")
    shape = items[0].shape
    place = dim % (len(shape) + 1)
    known = all(item.values is not None for item in items)
    values = [value for item in items for value in item.values] if known else None
    first = like(items[0], (len(items), *shape), values)
    return permute(first, [*range(1, place + 1), 0, *range(place + 1, len(shape) + 1)])


def joined(axis: int) -> Any:
    """``vstack``, ``hstack`` and ``dstack``: with dimensions added where tensors have too few, then joined."""

    def call(machine: Machine, tensors: Value, **options: Value) -> Tensor:
        items = []
        flat = True
        for item in machine.iterate(tensors):
            if not isinstance(item, Tensor) or item.shape is None:
                return new_tensor(machine, None, reason="a concatenation of unknown tensors")
            flat = flat and len(item.shape) <= 1
            shape = item.shape or (1,)
            if axis == 0 and len(shape) == 1:
                shape = (1, *shape)
            elif axis == 2:
                shape = (1, *shape, 1) if len(shape) == 1 else (*shape, 1) if len(shape) == 2 else shape
            items.append(like(item, shape, item.values))
        return cat(machine, items, 0 if axis == 1 and flat else axis)

    return call


def polar(machine: Machine, absolute: Value, angle: Value, **options: Value) -> Value:
    if not isinstance(absolute, Tensor) or not isinstance(angle, Tensor):
        return new_tensor(machine, None, reason="torch.polar")
    made = like(absolute, broadcast(absolute.shape, angle.shape))
    made.dtype = dtypes(machine)["complex64"]
    return made


def eye(machine: Machine, rows: Value, columns: Value = None, **options: Value) -> Tensor:
    found, reason = sizes(machine, (rows, rows if columns is None else columns))
    return new_tensor(machine, found, None, None, reason)


def diagonal(machine: Machine, source: Value, *args: Value, **options: Value) -> Value:
    """``torch.diag``: a vector to a square matrix, a matrix to its diagonal."""
    if not isinstance(source, Tensor) or source.shape is None or args or options:
        return new_tensor(machine, None, reason="torch.diag")
    shape = source.shape
    return like(source, (*shape, *shape) if len(shape) == 1 else (min(shape),))


def orthogonal_triangular(machine: Machine, source: Value, mode: Value = "reduced", **options: Value) -> Value:
    """``torch.linalg.qr``."""
    if not isinstance(source, Tensor) or source.shape is None or len(source.shape) < 2:
        return (new_tensor(machine, None), new_tensor(machine, None))
    *batch, rows, columns = source.shape
    inner = rows if mode == "complete" else min(rows, columns)
    return (like(source, (*batch, rows, inner)), like(source, (*batch, inner, columns)))


def window(machine: Machine, length: Value, *args: Value, **options: Value) -> Tensor:
    found, reason = sizes(machine, (length,))
    return new_tensor(machine, found, None, None, reason)


def diff(machine: Machine, source: Value, *args: Value, **options: Value) -> Value:
    if not args and not options and isinstance(source, Tensor) and source.shape is not None and len(source.shape) == 1:
        values = None
        if source.values is not None:
            values = [b - a for a, b in zip(source.values, source.values[1:], strict=False)]
        return like(source, (max(source.shape[0] - 1, 0),), values)
    return new_tensor(machine, None, reason="torch.diff")


def einsum(machine: Machine, equation: Value, operands: tuple[Value, ...]) -> Value:
    if not isinstance(equation, str) or "->" not in equation or "." in equation:
        return new_tensor(machine, None, reason="torch.einsum")
    if len(operands) == 1 and isinstance(operands[0], list | tuple):
        operands = tuple(operands[0])
    left, _, right = equation.replace(" ", "").partition("->")
    known: dict[str, int] = {}
    for names, operand in zip(left.split(","), operands, strict=False):
        if not isinstance(operand, Tensor) or operand.shape is None or len(operand.shape) != len(names):
            return new_tensor(machine, None, reason="torch.einsum")
        known.update(zip(names, operand.shape, strict=True))
    return new_tensor(machine, tuple(known[name] for name in right))


def outer(machine: Machine, left: Value, right: Value) -> Tensor:
    if isinstance(left, Tensor) and isinstance(right, Tensor) and left.shape and right.shape:
        values = None
        if left.values is not None and right.values is not None and len(left.values) * len(right.values) <= MOST_VALUES:
            values = [a * b for a in left.values for b in right.values]
        return like(left, (left.shape[0], right.shape[0]), values)
    return new_tensor(machine, None, reason="an outer product")


def meshgrid(machine: Machine, *tensors: Value, **options: Value) -> Value:
    items = list(tensors[0]) if len(tensors) == 1 and isinstance(tensors[0], list | tuple) else list(tensors)
    if any(not isinstance(item, Tensor) or item.shape is None for item in items):
        return tuple(new_tensor(machine, None) for _ in items)
    shape = [item.shape[0] if item.shape else 1 for item in items]
    if options.get("indexing") == "xy" and len(shape) > 1:
        shape[0], shape[1] = shape[1], shape[0]
    return tuple(like(item, tuple(shape)) for item in items)


def where(machine: Machine, *args: Value) -> Value:
    if len(args) == 1 and isinstance(args[0], Tensor):
        return nonzero(machine, args[0], as_tuple=True)
    if len(args) == 3:
        shapes = [arg.shape if isinstance(arg, Tensor) else () for arg in args]
        return new_tensor(machine, broadcast(broadcast(shapes[0], shapes[1]), shapes[2]))
    return Unknown("torch.where", data=True)


def broadcast_tensors(machine: Machine, *args: Value) -> Value:
    shape: Shape | None = ()
    for arg in args:
        shape = broadcast(shape, arg.shape if isinstance(arg, Tensor) else None)
    return tuple(like(arg, shape) for arg in args if isinstance(arg, Tensor))


__all__ = ["Class", "arange", "cat", "filled", "sizes", "tensor"]
