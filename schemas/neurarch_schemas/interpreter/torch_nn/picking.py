"""Items of tensors picked by their values: masks, ``nonzero``, ``unique``. Without the values nothing has a shape."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

from neurarch_schemas.interpreter.torch_nn.tensor import MOST_VALUES, Shape, Tensor, broadcast, dtypes, like, spread
from neurarch_schemas.interpreter.values import Unknown, Value

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine


def whole(machine: Machine, source: Tensor, shape: Shape | None, values: list[Any] | None) -> Tensor:
    """A tensor of indices beside a source."""
    made = like(source, shape, values)
    made.dtype = dtypes(machine)["int64"]
    return made


def masked_select(machine: Machine, self: Tensor, mask: Value) -> Value:
    shape = broadcast(self.shape, mask.shape) if isinstance(mask, Tensor) else None
    if shape is None or not isinstance(mask, Tensor) or self.shape is None or mask.shape is None:
        return like(self, None)
    if mask.values is None or prod(shape) > MOST_VALUES:
        return like(self, None)
    chosen = spread(mask.values, mask.shape, shape)
    values = None
    if self.values is not None:
        values = [value for value, keep in zip(spread(self.values, self.shape, shape), chosen, strict=True) if keep]
    return like(self, (sum(map(bool, chosen)),), values)


def by_mask(self: Tensor, mask: Tensor) -> Tensor:
    """``x[mask]``: the mask covers the first dimensions."""
    if self.shape is None or mask.shape is None or mask.values is None:
        return like(self, None)
    rank = len(mask.shape)
    if self.shape[:rank] != mask.shape:
        return like(self, None)
    rest = self.shape[rank:]
    step = prod(rest)
    rows = [place for place, keep in enumerate(mask.values) if keep]
    values = None if self.values is None else [value for row in rows for value in self.values[row * step :][:step]]
    return like(self, (len(rows), *rest), values)


def nonzero(machine: Machine, self: Tensor, *args: Value, as_tuple: Value = False, **options: Value) -> Value:
    split = as_tuple is True or self.cls.name == "ndarray"
    rank = None if self.shape is None else len(self.shape)
    if self.values is None or self.shape is None:
        if split and rank is not None:
            return tuple(whole(machine, self, None, None) for _ in range(rank))
        return whole(machine, self, None, None)
    places = [place for place, value in zip(product(*map(range, self.shape)), self.values, strict=True) if value]
    if split:
        return tuple(
            whole(machine, self, (len(places),), [place[axis] for place in places]) for axis in range(rank or 0)
        )
    return whole(machine, self, (len(places), rank or 0), [axis for place in places for axis in place])


def unique(machine: Machine, source: Value, *args: Value, return_counts: Value = False, **options: Value) -> Value:
    """``sorted`` or not, the items (rows, with ``dim=0``) come in order."""
    along = options.get("dim", options.get("axis", args[3] if len(args) > 3 else None))
    inverse = options.get("return_inverse", args[1] if len(args) > 1 else False)
    wanted = 1 + (inverse is True) + (return_counts is True)
    if not isinstance(source, Tensor) or source.values is None or not source.shape or along not in (None, 0):
        reason = Unknown("torch.unique of a tensor without known values", data=True)
        unknown = like(source, None) if isinstance(source, Tensor) else reason
        return unknown if wanted == 1 else (unknown,) * wanted
    step = prod(source.shape[1:]) if along == 0 else 1
    if not step:
        return like(source, None) if wanted == 1 else (like(source, None),) * wanted
    rows = [tuple(source.values[start : start + step]) for start in range(0, len(source.values), step)]
    found = sorted(set(rows))
    places = {row: place for place, row in enumerate(found)}
    rest = source.shape[1:] if along == 0 else ()
    made: list[Value] = [like(source, (len(found), *rest), [value for row in found for value in row])]
    if inverse is True:
        back = source.shape[:1] if along == 0 else source.shape
        made.append(whole(machine, source, back, [places[row] for row in rows]))
    if return_counts is True:
        made.append(whole(machine, source, (len(found),), [rows.count(row) for row in found]))
    return made[0] if len(made) == 1 else tuple(made)


def set_items(self: Tensor, places: Value, item: Value) -> None:
    """Write at the places (a tensor of positions among the values); what cannot be told loses all values."""
    # one item of a numpy array is a number, not an array
    shape = places.shape if isinstance(places, Tensor) else ()
    positions = places.values if isinstance(places, Tensor) else [places] if type(places) is int else None
    if self.values is None or positions is None or shape is None:
        self.values = None
        return
    if isinstance(item, int | float):
        new = [item] * len(positions)
    elif isinstance(item, Tensor) and item.values is not None and item.shape is not None:
        try:
            fits = broadcast(item.shape, shape) == shape
        except ValueError:
            fits = False
        if not fits:
            self.values = None
            return
        new = spread(item.values, item.shape, shape)
    else:
        self.values = None
        return
    for position, value in zip(positions, new, strict=True):
        self.values[position] = value
