"""Attributes and methods of tensors: shapes are followed exactly or given up."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from neurarch_schemas.interpreter.torch_nn.picking import masked_select, nonzero, unique
from neurarch_schemas.interpreter.torch_nn.pointwise import POINTWISE
from neurarch_schemas.interpreter.torch_nn.reductions import REDUCTIONS
from neurarch_schemas.interpreter.torch_nn.tensor import (
    MOST_VALUES,
    Device,
    Shape,
    Tensor,
    like,
    matmul,
    unknown_tensor,
)
from neurarch_schemas.interpreter.torch_nn.views import VIEWS, permute, size_list
from neurarch_schemas.interpreter.values import MISSING, BoundMethod, Builtin, Unknown, Value

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine


def tensor_attr(machine: Machine, tensor: Tensor, name: str) -> Value:
    if name in tensor.attrs:
        return tensor.attrs[name]
    match name:
        case "shape":
            return (
                Unknown(tensor.reason or "the shape of a tensor", data=True) if tensor.shape is None else tensor.shape
            )
        case "data" | "real":
            return tensor
        case "dtype":
            return tensor.dtype
        case "device":
            return Device("cpu")
        case "requires_grad":
            return tensor.requires_grad
        case "grad" | "grad_fn" | "names":
            return None
        case "ndim":
            return Unknown("the rank of a tensor", data=True) if tensor.shape is None else len(tensor.shape)
        case "T" | "mT" | "H" | "mH":
            if tensor.shape is None:
                return tensor
            order = list(range(len(tensor.shape)))
            order = order[::-1] if name == "T" else [*order[:-2], *order[-2:][::-1]]
            return permute(tensor, order)
        case "is_meta" | "is_cuda" | "is_quantized" | "is_sparse" | "is_mps" | "is_xpu" | "is_nested":
            return False
        case "is_leaf":
            return True
        case "layout":
            return Unknown("the layout of a tensor", data=True)
        case "__class__":
            return tensor.cls
        case "__dict__":
            return tensor.attrs
        case "nbytes":
            return Unknown("nbytes", data=True) if tensor.shape is None else prod(tensor.shape) * tensor.dtype.itemsize
        case "itemsize":
            return tensor.dtype.itemsize
        case "imag":
            return tensor
    own = tensor.cls.lookup(name)
    if own is not MISSING:
        return machine.bind(own, tensor, tensor.cls)
    if name == "size" and tensor.cls.name == "ndarray":
        return Unknown("the size of an array", data=True) if tensor.shape is None else prod(tensor.shape)
    method = METHODS.get(name)
    if method is not None:
        return BoundMethod(Builtin(name, method, binds=True), tensor)
    if name.startswith("_") and not name.startswith("__"):
        return MISSING
    if name.startswith("__") or not name.islower():
        return MISSING
    if name.startswith("is_"):
        return _question(tensor, name)
    return Builtin(name, lambda machine, *args, **kwargs: tensor if name.endswith("_") else like(tensor, None))


def _question(tensor: Tensor, name: str) -> Value:
    answers = {
        "is_complex": tensor.dtype.is_complex,
        "is_floating_point": tensor.dtype.is_floating_point,
        "is_signed": tensor.dtype.name not in ("uint8", "bool"),
        "is_contiguous": True,
        **dict.fromkeys(("is_conj", "is_neg", "is_inference", "is_pinned", "is_distributed", "is_shared"), False),
    }
    if name in answers:
        return Builtin(name, lambda machine, *args, **kwargs: answers[name])
    if name in ("is_same_size", "is_set_to", "is_nonzero"):
        return Builtin(name, lambda machine, *args: Unknown(f"Tensor.{name}", data=True))
    return MISSING


def _size(machine: Machine, self: Tensor, dim: Value = None) -> Value:
    if self.shape is None:
        return Unknown(self.reason or "the size of a tensor", data=True)
    return self.shape if dim is None else self.shape[dim]


def _numel(machine: Machine, self: Tensor) -> Value:
    return Unknown("the size of a tensor", data=True) if self.shape is None else prod(self.shape)


def _tolist(machine: Machine, self: Tensor) -> Value:
    if self.values is None or self.shape is None:
        if self.shape is not None and len(self.shape) == 1 and self.shape[0] <= MOST_VALUES:
            return [Unknown("a value of a tensor", data=True)] * self.shape[0]
        return Unknown("the values of a tensor", data=True)
    return _nested(self.values, self.shape)


def _nested(values: list[Any], shape: Shape) -> Any:
    if not shape:
        return values[0]
    step = prod(shape[1:])
    return [_nested(values[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0])]


def _item(machine: Machine, self: Tensor, *args: Value) -> Value:
    return self.interpreted_item(machine)


def _new(fill: Any) -> Any:
    def call(machine: Machine, self: Tensor, *args: Value, **kwargs: Value) -> Value:
        sizes = size_list(args)
        return like(self, tuple(sizes) if all(isinstance(size, int) for size in sizes) else None)

    return call


def _register_hook(machine: Machine, self: Tensor, *args: Value, **kwargs: Value) -> Value:
    return Unknown("a hook", data=True)


METHODS: dict[str, Any] = {
    **POINTWISE,
    **REDUCTIONS,
    **VIEWS,
    "masked_select": masked_select,
    "nonzero": nonzero,
    "argwhere": nonzero,
    "unique": unique,
    "size": _size,
    "dim": lambda machine, self: tensor_attr(machine, self, "ndim"),
    "ndimension": lambda machine, self: tensor_attr(machine, self, "ndim"),
    "numel": _numel,
    "nelement": _numel,
    "element_size": lambda machine, self: self.dtype.itemsize,
    "item": _item,
    "tolist": _tolist,
    "numpy": lambda machine, self, *args, **kwargs: self,
    "matmul": lambda machine, self, other: matmul(self, other),
    "mm": lambda machine, self, other: matmul(self, other),
    "new_zeros": _new(0),
    "new_ones": _new(1),
    "new_empty": _new(None),
    "new_full": lambda machine, self, size, *args, **kwargs: like(self, tuple(size)),
    "new_tensor": lambda machine, self, *args, **kwargs: unknown_tensor(machine),
    "register_hook": _register_hook,
    "register_post_accumulate_grad_hook": _register_hook,
    "get_device": lambda machine, self: -1,
    "backward": lambda machine, self, *args, **kwargs: None,
    "data_ptr": lambda machine, self: id(self),
    "untyped_storage": lambda machine, self: Unknown("the storage of a tensor", data=True),
    "storage": lambda machine, self: Unknown("the storage of a tensor", data=True),
    "stride": lambda machine, self, *args, **kwargs: Unknown("the strides of a tensor", data=True),
    "__len__": lambda machine, self: self.interpreted_len(machine),
}
