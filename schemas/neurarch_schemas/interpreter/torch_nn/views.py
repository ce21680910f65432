"""Tensors under another shape: views, repetitions and pieces."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

from neurarch_schemas.interpreter.torch_nn.tensor import MOST_VALUES, DType, Tensor, like, view
from neurarch_schemas.interpreter.values import Unknown, Value

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine


def size_list(args: tuple[Value, ...]) -> list[Value]:
    if len(args) == 1 and isinstance(args[0], list | tuple):
        return list(args[0])
    return list(args)


def _reshape(machine: Machine, self: Tensor, *args: Value, **kwargs: Value) -> Value:
    sizes = size_list(args) or list(kwargs.get("shape", ()))
    if len(sizes) == 1 and isinstance(sizes[0], DType):
        return _reinterpreted(self, sizes[0])
    if self.shape is None or any(not isinstance(size, int) for size in sizes):
        if -1 not in [size for size in sizes if isinstance(size, int)] and all(isinstance(size, int) for size in sizes):
            return like(self, tuple(sizes))
        return like(self, None)
    total = prod(self.shape)
    known = prod(size for size in sizes if size != -1)
    if -1 in sizes:
        if known == 0 or total % known:
            machine.fail("RuntimeError", f"shape {sizes} is invalid for input of size {total}")
        sizes[sizes.index(-1)] = total // known
    elif known != total:
        machine.fail("RuntimeError", f"shape {sizes} is invalid for input of size {total}")
    return view(self, tuple(sizes), self.values)


def _reinterpreted(tensor: Tensor, dtype: DType) -> Tensor:
    """``view(dtype)``: the bytes of the last dimension, read as items of another size."""
    made = like(tensor, None)
    made.dtype = dtype
    if tensor.shape is not None:
        if dtype.itemsize == tensor.dtype.itemsize:
            made.shape = tensor.shape
        elif tensor.shape and tensor.shape[-1] * tensor.dtype.itemsize % dtype.itemsize == 0:
            made.shape = (*tensor.shape[:-1], tensor.shape[-1] * tensor.dtype.itemsize // dtype.itemsize)
    return made


def permute(tensor: Tensor, order: list[int]) -> Tensor:
    shape = tensor.shape
    if shape is None or any(not isinstance(each, int) for each in order):
        return like(tensor, None)
    order = [each % len(shape) for each in order] if shape else order
    result = tuple(shape[each] for each in order)
    values = None
    if tensor.values is not None:
        strides = [prod(shape[i + 1 :]) for i in range(len(shape))]
        moved = [strides[each] for each in order]
        values = [
            tensor.values[sum(i * s for i, s in zip(place, moved, strict=True))]
            for place in product(*map(range, result))
        ]
    return view(tensor, result, values)


def _transpose(machine: Machine, self: Tensor, *args: Value, **kwargs: Value) -> Value:
    if self.shape is None:
        return self
    if len(args) != 2 or any(not isinstance(each, int) for each in args):
        order = list(range(len(self.shape)))[::-1] if not args else size_list(args)
        return permute(self, order)
    order = list(range(len(self.shape)))
    a, b = (each % len(order) for each in args)
    order[a], order[b] = order[b], order[a]
    return permute(self, order)


def _unsqueeze(machine: Machine, self: Tensor, dim: Value = 0) -> Value:
    if self.shape is None or not isinstance(dim, int):
        return like(self, None)
    place = dim % (len(self.shape) + 1)
    return view(self, (*self.shape[:place], 1, *self.shape[place:]), self.values)


def _squeeze(machine: Machine, self: Tensor, *dims: Value, dim: Value = None) -> Value:
    if self.shape is None:
        return self
    dims = dims if dim is None else (dim,)
    chosen = {each % max(len(self.shape), 1) for each in size_list(dims)} if dims else set(range(len(self.shape)))
    return view(self, tuple(s for i, s in enumerate(self.shape) if s != 1 or i not in chosen), self.values)


def _expand(machine: Machine, self: Tensor, *args: Value) -> Value:
    sizes = size_list(args)
    if self.shape is None or any(not isinstance(size, int) for size in sizes):
        return like(self, None)
    padded = (1,) * (len(sizes) - len(self.shape)) + self.shape
    return like(self, tuple(own if size == -1 else size for size, own in zip(sizes, padded, strict=True)))


def _repeat(machine: Machine, self: Tensor, *args: Value) -> Value:
    sizes = size_list(args)
    if self.shape is None or any(not isinstance(size, int) for size in sizes):
        return like(self, None)
    padded = (1,) * (len(sizes) - len(self.shape)) + self.shape
    values = (
        self.values * sizes[0]
        if self.values is not None
        and len(sizes) == 1
        and len(self.values) * sizes[0] <= MOST_VALUES
        and len(self.shape) == 1
        else None
    )
    return like(self, tuple(size * own for size, own in zip(sizes, padded, strict=True)), values)


def _tile(machine: Machine, self: Tensor, *args: Value, dims: Value = None) -> Value:
    """As ``repeat``, with fewer sizes than dimensions allowed."""
    sizes = size_list(args) if dims is None else list(dims)
    if self.shape is None:
        return like(self, None)
    return _repeat(machine, self, *[1] * (len(self.shape) - len(sizes)), *sizes)


def _repeat_interleave(
    machine: Machine, self: Tensor, repeats: Value = None, dim: Value = None, **options: Value
) -> Value:
    if self.shape is None or not isinstance(repeats, int):
        return like(self, None)
    shape: tuple[int, ...] = (prod(self.shape),) if dim is None else self.shape
    place = 0 if dim is None else dim % len(shape)
    result = (*shape[:place], shape[place] * repeats, *shape[place + 1 :])
    if self.values is None or prod(result) > MOST_VALUES:
        return like(self, result)
    step = prod(shape[place + 1 :])
    rows = [self.values[start : start + step] for start in range(0, len(self.values), step)] if step else []
    return like(self, result, [value for row in rows for _ in range(repeats) for value in row])


def _diagonal_embedding(machine: Machine, self: Tensor, offset: Value = 0, *args: Value, **kwargs: Value) -> Value:
    if not self.shape or not isinstance(offset, int) or args or kwargs:
        return like(self, None)
    size = self.shape[-1] + abs(offset)
    return like(self, (*self.shape[:-1], size, size))


def _flip(*axes: int) -> Any:
    """``flip(dims)``, or along the axes of ``flipud`` and ``fliplr``."""

    def call(machine: Machine, self: Tensor, *args: Value, dims: Value = None, **options: Value) -> Value:
        from neurarch_schemas.interpreter.torch_nn.indexing import index

        chosen = list(axes) or size_list(args if dims is None else (dims,))
        if not chosen and self.cls.name == "ndarray":
            chosen = list(range(len(self.shape or ())))
        if self.values is None or self.shape is None or not all(isinstance(each, int) for each in chosen):
            return like(self, self.shape)
        turned = {each % max(len(self.shape), 1) for each in chosen}
        keys = tuple(slice(None, None, -1 if axis in turned else None) for axis in range(len(self.shape)))
        return index(machine, self, keys)

    return call


def _diagonal(machine: Machine, self: Tensor, offset: Value = 0, dim1: Value = 0, dim2: Value = 1) -> Value:
    shape = self.shape
    if shape is None or len(shape) < 2 or not all(isinstance(each, int) for each in (offset, dim1, dim2)):
        return like(self, None)
    first, second = dim1 % len(shape), dim2 % len(shape)
    length = max(0, min(shape[first] + min(offset, 0), shape[second] - max(offset, 0)))
    values = None
    if self.values is not None and (first, second) == (0, 1) and len(shape) == 2:
        start = offset if offset >= 0 else -offset * shape[1]
        values = [self.values[start + each * (shape[1] + 1)] for each in range(length)]
    rest = tuple(size for axis, size in enumerate(shape) if axis not in (first, second))
    return view(self, (*rest, length), values)


def _as_real(machine: Machine, self: Tensor) -> Value:
    """A complex tensor as pairs of numbers."""
    return like(self, None if self.shape is None else (*self.shape, 2))


def _as_complex(machine: Machine, self: Tensor) -> Value:
    return like(self, None if not self.shape else self.shape[:-1])


def _at_least(rank: int) -> Any:
    def call(machine: Machine, self: Tensor, *others: Value) -> Value:
        if others:
            return tuple(call(machine, each) if isinstance(each, Tensor) else each for each in (self, *others))
        shape = self.shape
        if shape is None or len(shape) >= rank:
            return self
        if rank == 3:
            shape = {0: (1, 1, 1), 1: (1, *shape, 1), 2: (*shape, 1)}[len(shape)]
        else:
            shape = (1,) * (rank - len(shape)) + shape
        return view(self, shape, self.values)

    return call


def _flatten(machine: Machine, self: Tensor, start_dim: Value = 0, end_dim: Value = -1) -> Value:
    if self.shape is None:
        return self
    if not self.shape:
        return view(self, (1,), self.values)
    start, end = start_dim % len(self.shape), end_dim % len(self.shape)
    return view(self, (*self.shape[:start], prod(self.shape[start : end + 1]), *self.shape[end + 1 :]), self.values)


def _chunk(machine: Machine, self: Tensor, chunks: Value, dim: Value = 0) -> Value:
    if self.shape is None or not isinstance(chunks, int):
        return (
            tuple(like(self, None) for _ in range(chunks))
            if isinstance(chunks, int) and chunks < 1000
            else Unknown("chunks", data=True)
        )
    size = -(-self.shape[dim] // chunks)
    return _split(machine, self, size, dim)


def _split(machine: Machine, self: Tensor, sizes: Value, dim: Value = 0) -> Value:
    if self.shape is None or not isinstance(dim, int):
        return (
            tuple(like(self, None) for _ in sizes)
            if isinstance(sizes, list | tuple)
            else Unknown("pieces of a tensor", data=True)
        )
    total = self.shape[dim]
    if isinstance(sizes, int):
        sizes = [min(sizes, total - start) for start in range(0, total, max(sizes, 1))]
    place = dim % len(self.shape)
    pieces = []
    start = 0
    for size in sizes:
        values = self.values[start : start + size] if self.values is not None and len(self.shape) == 1 else None
        pieces.append(view(self, (*self.shape[:place], size, *self.shape[place + 1 :]), values))
        start += size
    return tuple(pieces)


def _unbind(machine: Machine, self: Tensor, dim: Value = 0) -> Value:
    if self.shape is None or not isinstance(dim, int):
        return Unknown("pieces of a tensor", data=True)
    place = dim % len(self.shape)
    if place == 0:
        return tuple(self.interpreted_iter(machine))
    shape = (*self.shape[:place], *self.shape[place + 1 :])
    return tuple(like(self, shape) for _ in range(self.shape[place]))


def in_place(function: Any) -> Any:
    """The method that changes the shape of the tensor itself."""

    def call(machine: Machine, self: Tensor, *args: Value, **kwargs: Value) -> Value:
        made = function(machine, self, *args, **kwargs)
        self.written()
        self.shape, self.values = (made.shape, made.values) if isinstance(made, Tensor) else (None, None)
        return self

    return call


def _unknown_shape(machine: Machine, self: Tensor, *args: Value, **kwargs: Value) -> Value:
    return like(self, None)


def _permute(machine: Machine, self: Tensor, *args: Value, dims: Value = None) -> Value:
    return permute(self, size_list(args) if dims is None else list(dims))


def _as_other(machine: Machine, self: Tensor, other: Value) -> Value:
    return like(self, other.shape if isinstance(other, Tensor) else None)


VIEWS: dict[str, Any] = {
    "view": _reshape,
    "reshape": _reshape,
    "permute": _permute,
    **dict.fromkeys(("transpose", "swapaxes", "swapdims", "t"), _transpose),
    **dict.fromkeys(("transpose_", "swapaxes_", "swapdims_", "t_"), in_place(_transpose)),
    "unsqueeze": _unsqueeze,
    "unsqueeze_": in_place(_unsqueeze),
    "squeeze": _squeeze,
    "squeeze_": in_place(_squeeze),
    **dict.fromkeys(("as_strided_", "resize_", "resize_as_", "set_"), in_place(_unknown_shape)),
    "expand": _expand,
    "expand_as": _as_other,
    "view_as": _as_other,
    "reshape_as": _as_other,
    "view_as_real": _as_real,
    "view_as_complex": _as_complex,
    "repeat": _repeat,
    "tile": _tile,
    "repeat_interleave": _repeat_interleave,
    "diag_embed": _diagonal_embedding,
    "diagonal": _diagonal,
    "flip": _flip(),
    "flipud": _flip(0),
    "fliplr": _flip(1),
    "flatten": _flatten,
    "ravel": _flatten,
    "chunk": _chunk,
    "split": _split,
    "unbind": _unbind,
    **{f"atleast_{rank}d": _at_least(rank) for rank in (1, 2, 3)},
}
