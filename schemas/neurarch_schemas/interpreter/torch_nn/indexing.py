"""Indexing of tensors: by integers, slices, None, Ellipsis and lists of items."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

from neurarch_schemas.interpreter.torch_nn.picking import by_mask
from neurarch_schemas.interpreter.torch_nn.tensor import MOST_VALUES, Shape, Tensor, like, view
from neurarch_schemas.interpreter.torch_nn.views import permute
from neurarch_schemas.interpreter.values import Value

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine


def _pick_shape(key: Value) -> Shape | None:
    """The shape of an index that picks items: a list of integers, or a tensor of them."""
    if isinstance(key, Tensor):
        return None if key.dtype.name == "bool" else key.shape
    if isinstance(key, list) and all(isinstance(each, int) and not isinstance(each, bool) for each in key):
        return (len(key),)
    return None


def _rows(key: Value, values: list[Any], shape: Shape) -> list[Any] | None:
    """The values of the rows an index picks."""
    rows = key.values if isinstance(key, Tensor) else key
    step = prod(shape[1:])
    if rows is None or any(not -shape[0] <= row < shape[0] for row in rows):
        return None
    return [value for row in rows for value in values[row % shape[0] * step :][:step]]


def _index_by_items(source: Tensor, keys: list[Value]) -> Value:
    """Indexing with one index that picks items among slices; its shape stands in the place of the dimension."""
    shape = source.shape
    picking = [place for place, key in enumerate(keys) if not (key is None or key is ... or isinstance(key, slice))]
    picked = _pick_shape(keys[picking[0]]) if len(picking) == 1 else None
    used = sum(1 for key in keys if key is not None and key is not ...)
    if shape is None or picked is None or used > len(shape):
        return like(source, None)
    place = picking[0]
    before = keys[:place]
    # a slice of everything keeps the place of the dimension, whose items are then exchanged
    kept = index(source.cls.machine, source, (*before, slice(None), *keys[place + 1 :]))
    if not isinstance(kept, Tensor) or kept.shape is None:
        return like(source, None)
    if len(keys) == 1 and kept.values is not None:
        return like(source, (*picked, *shape[1:]), _rows(keys[0], kept.values, shape))
    axis = sum(1 for key in before if key is not ...) + (len(shape) - used if ... in before else 0)
    result = (*kept.shape[:axis], *picked, *kept.shape[axis + 1 :])
    if kept.values is None or axis >= len(kept.shape) or prod(result) > MOST_VALUES:
        return like(source, result)
    # the dimension first, its rows picked, and back in its place
    others = [each for each in range(len(kept.shape)) if each != axis]
    front = permute(kept, [axis, *others])
    rows = _rows(keys[place], front.values or [], front.shape or ())
    count = len(picked)
    back = [*range(count, count + axis), *range(count), *range(count + axis, count + len(others))]
    return permute(like(source, (*picked, *(kept.shape[each] for each in others)), rows), back)


def index(machine: Machine, source: Tensor, key: Value) -> Value:
    """Indexing by integers, slices, None, Ellipsis and one list of items; anything else has an unknown shape."""
    keys = list(key) if isinstance(key, tuple) else [key]
    shape = source.shape
    if shape is None or any(isinstance(each, bool) for each in keys):
        return like(source, None)
    if len(keys) == 1 and isinstance(keys[0], Tensor) and keys[0].dtype.name == "bool":
        return by_mask(source, keys[0])
    if any(not (each is None or each is ... or isinstance(each, int | slice)) for each in keys):
        return _index_by_items(source, keys)
    used = sum(1 for each in keys if each is not None and each is not ...)
    if used > len(shape):
        machine.fail("IndexError", "too many indices for tensor")
    if ... in keys:
        place = keys.index(...)
        keys[place : place + 1] = [slice(None)] * (len(shape) - used)
    else:
        keys.extend([slice(None)] * (len(shape) - used))
    result: list[int] = []
    picks: list[range | list[int]] = []
    dimension = 0
    for each in keys:
        if each is None:
            result.append(1)
            continue
        size = shape[dimension]
        dimension += 1
        if isinstance(each, int):
            if not -size <= each < size:
                machine.fail("IndexError", f"index {each} is out of bounds for dimension of size {size}")
            picks.append([each % size])
        else:
            if any(not (part is None or isinstance(part, int)) for part in (each.start, each.stop, each.step)):
                return like(source, None)
            chosen = range(size)[each]
            picks.append(chosen)
            result.append(len(chosen))
    values = None
    if source.values is not None:
        strides = [prod(shape[i + 1 :]) for i in range(len(shape))]
        values = [source.values[sum(i * s for i, s in zip(place, strides, strict=True))] for place in product(*picks)]
    made = view(source, tuple(result), values)
    if not result and values is not None and source.cls.name == "ndarray":
        return values[0]
    return made
