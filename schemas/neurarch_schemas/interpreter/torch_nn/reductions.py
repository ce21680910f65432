"""Reductions of tensors: sums and their like along dimensions, and the pairs of values and indices some give."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from neurarch_schemas.interpreter.libraries.containers import record_class
from neurarch_schemas.interpreter.torch_nn.tensor import DType, Tensor, dtypes, elementwise, like
from neurarch_schemas.interpreter.torch_nn.views import permute
from neurarch_schemas.interpreter.values import Unknown, Value

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine


def reduction(function: Any) -> Any:
    def call(machine: Machine, self: Tensor, dim: Value = None, keepdim: Value = False, **kwargs: Value) -> Value:
        dim = kwargs.get("axis", dim)
        if self.shape is None:
            return self
        if dim is None or isinstance(dim, DType):
            try:
                values = None if self.values is None else [function(self.values)]
            except (ValueError, ZeroDivisionError):  # the largest of nothing
                values = None
            return like(self, (), values)
        if not isinstance(dim, int | tuple | list):
            return like(self, None)
        chosen = {each % max(len(self.shape), 1) for each in ([dim] if isinstance(dim, int) else dim)}
        values = _along(self, chosen, function)
        if keepdim:
            return like(self, tuple(1 if i in chosen else s for i, s in enumerate(self.shape)), values)
        return like(self, tuple(s for i, s in enumerate(self.shape) if i not in chosen), values)

    return call


def _along(self: Tensor, chosen: set[int], function: Any) -> list[Any] | None:
    """The values of a reduction along some dimensions, where those of the tensor are known."""
    if not self.values or not self.shape:
        return None
    kept = [place for place in range(len(self.shape)) if place not in chosen]
    moved = permute(self, [*kept, *sorted(chosen)])
    count = prod(self.shape[place] for place in chosen)
    if moved.values is None or not count:
        return None
    values = [function(moved.values[start : start + count]) for start in range(0, len(moved.values), count)]
    return None if any(type(value) is Unknown for value in values) else values


def _unknown_value(values: list[Any]) -> Unknown:
    return Unknown("the value of a reduction", data=True)


def with_indices(machine: Machine, values: Value) -> Value:
    """What ``max(dim)`` and its like return: ``values`` and ``indices``, by name and by place."""
    cls = machine.state.get("torch.return_types")
    if cls is None:
        cls = machine.state["torch.return_types"] = record_class(machine, "pair", ["values", "indices"], {})
    indices = values
    if isinstance(values, Tensor):
        indices = like(values, values.shape)
        indices.dtype = dtypes(machine)["int64"]
    return machine.call(cls, [values, indices], {})


def _extreme(name: str) -> Any:
    def call(machine: Machine, self: Tensor, dim: Value = None, keepdim: Value = False, **kwargs: Value) -> Value:
        dim = kwargs.pop("other", dim)
        if isinstance(dim, Tensor):
            return elementwise(self, dim, name, False)
        reduced = reduction(max if name == "max" else min)(machine, self, dim, keepdim, **kwargs)
        return reduced if dim is None or self.cls.name == "ndarray" else with_indices(machine, reduced)

    return call


def _selected(default: Value) -> Any:
    """``median``, ``mode``, ``kthvalue``: one value along a dimension, with its index."""

    def call(machine: Machine, self: Tensor, *args: Value, **kwargs: Value) -> Value:
        if default is None and not args and "dim" not in kwargs:
            return like(self, ())
        dim = kwargs.get("dim", next((arg for arg in args if isinstance(arg, int)), default))
        return with_indices(machine, reduction(_unknown_value)(machine, self, dim, kwargs.get("keepdim", False)))

    return call


def _kth(machine: Machine, self: Tensor, k: Value, dim: Value = -1, keepdim: Value = False) -> Value:
    return with_indices(machine, reduction(_unknown_value)(machine, self, dim, keepdim))


def _sort(machine: Machine, self: Tensor, *args: Value, **kwargs: Value) -> Value:
    values = None
    if self.values is not None and self.shape is not None and len(self.shape) == 1:
        descending = kwargs.get("descending", args[1] if len(args) > 1 else False)
        values = sorted(self.values, reverse=bool(descending))
    made = like(self, self.shape, values)
    return made if self.cls.name == "ndarray" else with_indices(machine, made)


def _topk(machine: Machine, self: Tensor, k: Value, dim: Value = -1, *args: Value, **kwargs: Value) -> Value:
    shape = None
    if self.shape and isinstance(k, int) and isinstance(dim, int):
        place = dim % len(self.shape)
        shape = (*self.shape[:place], k, *self.shape[place + 1 :])
    return with_indices(machine, like(self, shape))


def _cumulative_extreme(machine: Machine, self: Tensor, dim: Value = 0) -> Value:
    return with_indices(machine, like(self, self.shape))


def _spread(machine: Machine, self: Tensor, dim: Value = None, *args: Value, **kwargs: Value) -> Value:
    """``std`` and ``var``, whose first argument may also say whether the estimate is unbiased."""
    if isinstance(dim, bool):
        dim = None
    keepdim = kwargs.pop("keepdim", args[-1] if len(args) > 1 else False)
    return reduction(_unknown_value)(machine, self, dim, keepdim, axis=kwargs.get("axis", dim))


def _norm(
    machine: Machine, self: Tensor, p: Value = None, dim: Value = None, keepdim: Value = False, **kwargs: Value
) -> Value:
    return reduction(_unknown_value)(machine, self, dim, keepdim, **kwargs)


_unknown = reduction(_unknown_value)

REDUCTIONS: dict[str, Any] = {
    "sum": reduction(sum),
    "mean": reduction(lambda values: sum(values) / len(values)),
    "prod": reduction(prod),
    "max": _extreme("max"),
    "min": _extreme("min"),
    "median": _selected(None),
    "nanmedian": _selected(None),
    "mode": _selected(-1),
    "kthvalue": _kth,
    "sort": _sort,
    "topk": _topk,
    "cummax": _cumulative_extreme,
    "cummin": _cumulative_extreme,
    "amax": reduction(max),
    "amin": reduction(min),
    "argmax": reduction(lambda values: values.index(max(values))),
    "argmin": reduction(lambda values: values.index(min(values))),
    "any": reduction(any),
    "all": reduction(all),
    "std": _spread,
    "var": _spread,
    "norm": _norm,
    **dict.fromkeys(("nansum", "nanmean", "logsumexp"), _unknown),
}
