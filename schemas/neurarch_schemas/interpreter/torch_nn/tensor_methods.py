"""Attributes and methods of tensors: shapes are followed exactly or given up."""

from __future__ import annotations

import math
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

from neurarch_schemas.interpreter.torch_nn.tensor import (
    MOST_VALUES,
    Device,
    DType,
    Shape,
    Tensor,
    dtypes,
    elementwise,
    like,
    mapped,
    matmul,
    unknown_tensor,
)
from neurarch_schemas.interpreter.values import MISSING, BoundMethod, Builtin, Unknown, Value

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine

_SAME = frozenset(
    [
        "clone",
        "detach",
        "contiguous",
        "cpu",
        "cuda",
        "requires_grad_",
        "share_memory_",
        "pin_memory",
        "to",
        "type",
        "float",
        "double",
        "half",
        "bfloat16",
        "long",
        "int",
        "short",
        "bool",
        "byte",
        "to_sparse",
        "conj",
        "resolve_conj",
        "exp",
        "log",
        "log2",
        "log1p",
        "sqrt",
        "rsqrt",
        "abs",
        "neg",
        "sin",
        "cos",
        "tan",
        "tanh",
        "sigmoid",
        "relu",
        "erf",
        "round",
        "floor",
        "ceil",
        "trunc",
        "sign",
        "clamp",
        "clip",
        "softmax",
        "log_softmax",
        "cumsum",
        "cumprod",
        "cumlogsumexp",
        "triu",
        "tril",
        "masked_fill",
        "fill_",
        "zero_",
        "normal_",
        "uniform_",
        "copy_",
        "flip",
        "roll",
        "sort",
        "logical_not",
        "bitwise_not",
        "reciprocal",
        "square",
        "pow",
        "lerp",
        "type_as",
        "exp2",
        "sinh",
        "cosh",
        "nan_to_num",
        "masked_fill_",
        "clamp_",
        "mul_",
        "add_",
        "sub_",
        "div_",
        "exponential_",
        "trunc_normal_",
        "index_copy_",
        "scatter_",
        "fill_diagonal_",
        "xavier_uniform_",
        "bernoulli_",
        "random_",
        "sin_",
        "cos_",
        "log_",
        "exp_",
        "sqrt_",
        "neg_",
        "pow_",
        "tril_",
        "triu_",
        "erfinv_",
        "logical_and",
        "logical_or",
        "scatter_add_",
        "index_fill_",
        "index_add_",
        "detach_",
        "log_normal_",
        "cauchy_",
        "geometric_",
        "clamp_min",
        "clamp_max",
        "clamp_min_",
        "erfinv",
        "data_ptr_",
        "astype",
        "copy",
        "view_as_real",
        "expm1",
        "softplus",
    ]
)
_FUNCTIONS: dict[str, Any] = {
    "exp": math.exp,
    "log": lambda x: math.log(x) if x > 0 else -math.inf,
    "log2": math.log2,
    "log10": math.log10,
    "sqrt": math.sqrt,
    "abs": abs,
    "neg": lambda x: -x,
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "tanh": math.tanh,
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
    "round": round,
    "floor": math.floor,
    "ceil": math.ceil,
    "square": lambda x: x * x,
    "reciprocal": lambda x: 1 / x,
    "trunc": math.trunc,
    "sign": lambda x: (x > 0) - (x < 0),
    "expm1": math.expm1,
}
_DTYPE_METHODS = {
    "float": "float32", "double": "float64", "half": "float16", "bfloat16": "bfloat16", "long": "int64", "int": "int32",
    "short": "int16", "bool": "bool", "byte": "uint8",
}  # fmt: skip


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
        case "T" | "mT" | "H":
            if tensor.shape is None:
                return tensor
            order = list(range(len(tensor.shape)))
            order[-2:] = order[-2:][::-1]
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
    if name in _SAME:
        return BoundMethod(Builtin(name, _same(name), binds=True), tensor)
    if name.startswith("__") or not name.islower():
        return MISSING
    if name in ("is_complex", "is_contiguous", "is_floating_point"):
        return Builtin(
            name,
            lambda machine: name != "is_complex" if name != "is_floating_point" else tensor.dtype.is_floating_point,
        )
    if name not in _KNOWN_OTHERS and not name.endswith("_"):
        return MISSING if name.startswith("is_") else Builtin(name, lambda machine, *args, **kwargs: like(tensor, None))
    return Builtin(name, lambda machine, *args, **kwargs: tensor if name.endswith("_") else like(tensor, None))


_KNOWN_OTHERS = frozenset(
    {"unfold", "gather", "index_select", "topk", "argsort", "nonzero", "unique", "norm", "einsum"}
)


def _same(name: str) -> Any:
    function = _FUNCTIONS.get(name)

    def call(machine: Machine, self: Tensor, *args: Value, **kwargs: Value) -> Value:
        if name.endswith("_"):
            if name == "requires_grad_":
                self.requires_grad = args[0] if args else kwargs.get("requires_grad", True)
            elif name == "copy_" and args and isinstance(args[0], Tensor):
                self.values = args[0].values if args[0].shape == self.shape else None
            elif name == "fill_" and self.values is not None and args and isinstance(args[0], int | float):
                self.values = [args[0]] * len(self.values)
            elif name == "zero_" and self.values is not None:
                self.values = [0] * len(self.values)
            elif name not in ("detach_", "share_memory_"):
                self.values = None
            return self
        if function is not None:
            return mapped(self, function)
        if (
            name in ("cumsum", "cumprod")
            and self.values is not None
            and self.shape is not None
            and len(self.shape) == 1
        ):
            total: Any = 0 if name == "cumsum" else 1
            values = []
            for value in self.values:
                total = total + value if name == "cumsum" else total * value
                values.append(total)
            return like(self, self.shape, values)
        keeps = name in (
            "clone",
            "detach",
            "contiguous",
            "cpu",
            "cuda",
            "to",
            "type",
            "pin_memory",
            "type_as",
            "astype",
            "copy",
        )
        if name == "flip" and self.values is not None and self.shape is not None and len(self.shape) == 1:
            return like(self, self.shape, self.values[::-1])
        if name == "pow" and args:
            return elementwise(self, args[0], "pow", False)
        if name in ("clamp", "clip") and self.values is not None:
            low = args[0] if args else kwargs.get("min")
            high = args[1] if len(args) > 1 else kwargs.get("max")
            if all(bound is None or isinstance(bound, int | float) for bound in (low, high)):
                return mapped(
                    self,
                    lambda value: min(value if low is None else max(value, low), math.inf if high is None else high),
                )
        kinds = dtypes(machine)
        wanted = _DTYPE_METHODS.get(name)
        dtype = next((each for each in (*args, *kwargs.values()) if isinstance(each, DType)), None)
        if name == "astype" and args and not isinstance(args[0], DType):
            dtype = (
                kinds["int64"]
                if args[0] is machine.builtins["int"]
                else kinds["float64"]
                if args[0] is machine.builtins["float"]
                else None
            )
        if wanted is not None:
            dtype = kinds[wanted]
        made = like(self, self.shape, list(self.values) if self.values is not None and (keeps or wanted) else None)
        if name == "to" and self.cls.name != "Tensor":
            made.cls = self.cls if self.cls.name == "ndarray" else made.cls
        if dtype is not None:
            made.dtype = dtype
            if made.values is not None and not dtype.is_floating_point and not dtype.is_complex:
                made.values = [bool(v) if dtype.name == "bool" else int(v) for v in made.values]
            elif made.values is not None and dtype.is_floating_point:
                made.values = [float(v) for v in made.values]
        return made

    return call


def _sizes(args: tuple[Value, ...]) -> list[Value]:
    if len(args) == 1 and isinstance(args[0], list | tuple):
        return list(args[0])
    return list(args)


def _reshape(machine: Machine, self: Tensor, *args: Value, **kwargs: Value) -> Value:
    sizes = _sizes(args) or list(kwargs.get("shape", ()))
    if len(sizes) == 1 and isinstance(sizes[0], DType):
        return like(self, self.shape)
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
    return like(self, tuple(sizes), self.values)


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
    return like(tensor, result, values)


def _transpose(machine: Machine, self: Tensor, *args: Value, **kwargs: Value) -> Value:
    if self.shape is None:
        return self
    if len(args) != 2 or any(not isinstance(each, int) for each in args):
        order = list(range(len(self.shape)))[::-1] if not args else _sizes(args)
        return permute(self, order)
    order = list(range(len(self.shape)))
    a, b = (each % len(order) for each in args)
    order[a], order[b] = order[b], order[a]
    return permute(self, order)


def _unsqueeze(machine: Machine, self: Tensor, dim: Value = 0) -> Value:
    if self.shape is None or not isinstance(dim, int):
        return like(self, None)
    place = dim % (len(self.shape) + 1)
    return like(self, (*self.shape[:place], 1, *self.shape[place:]), self.values)


def _squeeze(machine: Machine, self: Tensor, *dims: Value) -> Value:
    if self.shape is None:
        return self
    chosen = {each % len(self.shape) for each in _sizes(dims)} if dims else set(range(len(self.shape)))
    return like(self, tuple(s for i, s in enumerate(self.shape) if s != 1 or i not in chosen), self.values)


def _expand(machine: Machine, self: Tensor, *args: Value) -> Value:
    sizes = _sizes(args)
    if self.shape is None or any(not isinstance(size, int) for size in sizes):
        return like(self, None)
    padded = (1,) * (len(sizes) - len(self.shape)) + self.shape
    return like(self, tuple(own if size == -1 else size for size, own in zip(sizes, padded, strict=True)))


def _repeat(machine: Machine, self: Tensor, *args: Value) -> Value:
    sizes = _sizes(args)
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


def _flatten(machine: Machine, self: Tensor, start_dim: Value = 0, end_dim: Value = -1) -> Value:
    if self.shape is None:
        return self
    if not self.shape:
        return like(self, (1,), self.values)
    start, end = start_dim % len(self.shape), end_dim % len(self.shape)
    return like(self, (*self.shape[:start], prod(self.shape[start : end + 1]), *self.shape[end + 1 :]), self.values)


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


def _reduce(function: Any) -> Any:
    def call(machine: Machine, self: Tensor, dim: Value = None, keepdim: Value = False, **kwargs: Value) -> Value:
        dim = kwargs.get("axis", dim)
        if self.shape is None:
            return self
        if dim is None or isinstance(dim, DType):
            values = None
            if self.values:
                values = [function(self.values)]
            return like(self, (), values)
        if not isinstance(dim, int | tuple | list):
            return like(self, None)
        chosen = {each % max(len(self.shape), 1) for each in ([dim] if isinstance(dim, int) else dim)}
        if keepdim:
            return like(self, tuple(1 if i in chosen else s for i, s in enumerate(self.shape)))
        return like(self, tuple(s for i, s in enumerate(self.shape) if i not in chosen))

    return call


def _unknown_value(values: list[Any]) -> Unknown:
    return Unknown("the value of a reduction", data=True)


def _pair_reduce(name: str) -> Any:
    def call(machine: Machine, self: Tensor, dim: Value = None, keepdim: Value = False, **kwargs: Value) -> Value:
        reduced = _reduce(max if name == "max" else min)(machine, self, dim, keepdim, **kwargs)
        return reduced if dim is None or self.cls.name == "ndarray" else (reduced, reduced)

    return call


def _item(machine: Machine, self: Tensor, *args: Value) -> Value:
    return self.interpreted_item(machine)


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
        pieces.append(like(self, (*self.shape[:place], size, *self.shape[place + 1 :]), values))
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


def _new(fill: Any) -> Any:
    def call(machine: Machine, self: Tensor, *args: Value, **kwargs: Value) -> Value:
        sizes = _sizes(args)
        return like(self, tuple(sizes) if all(isinstance(size, int) for size in sizes) else None)

    return call


def _register_hook(machine: Machine, self: Tensor, *args: Value, **kwargs: Value) -> Value:
    return Unknown("a hook", data=True)


METHODS: dict[str, Any] = {
    "view": _reshape,
    "reshape": _reshape,
    "permute": lambda machine, self, *args: permute(self, _sizes(args)),
    "transpose": _transpose,
    "swapaxes": _transpose,
    "t": _transpose,
    "unsqueeze": _unsqueeze,
    "unsqueeze_": _unsqueeze,
    "squeeze": _squeeze,
    "expand": _expand,
    "repeat": _repeat,
    "tile": _repeat,
    "flatten": _flatten,
    "ravel": _flatten,
    "size": _size,
    "dim": lambda machine, self: tensor_attr(machine, self, "ndim"),
    "ndimension": lambda machine, self: tensor_attr(machine, self, "ndim"),
    "numel": _numel,
    "nelement": _numel,
    "element_size": lambda machine, self: self.dtype.itemsize,
    "item": _item,
    "tolist": _tolist,
    "numpy": lambda machine, self, *args, **kwargs: self,
    "sum": _reduce(sum),
    "mean": _reduce(lambda values: sum(values) / len(values)),
    "prod": _reduce(prod),
    "max": _pair_reduce("max"),
    "min": _pair_reduce("min"),
    "amax": _reduce(max),
    "amin": _reduce(min),
    "argmax": _reduce(lambda values: values.index(max(values))),
    "argmin": _reduce(lambda values: values.index(min(values))),
    "any": _reduce(any),
    "all": _reduce(all),
    "std": _reduce(lambda values: Unknown("std", data=True)),
    "var": _reduce(lambda values: Unknown("var", data=True)),
    "norm": lambda machine, self, p=None, dim=None, keepdim=False, **kwargs: _reduce(_unknown_value)(
        machine, self, dim, keepdim, **kwargs
    ),
    "chunk": _chunk,
    "divide": lambda machine, self, other, **kwargs: elementwise(self, other, "truediv", False),
    "subtract": lambda machine, self, other, **kwargs: elementwise(self, other, "sub", False),
    "multiply": lambda machine, self, other: elementwise(self, other, "mul", False),
    "split": _split,
    "unbind": _unbind,
    "expand_as": lambda machine, self, other: like(self, other.shape if isinstance(other, Tensor) else None),
    "view_as": lambda machine, self, other: like(self, other.shape if isinstance(other, Tensor) else None),
    "matmul": lambda machine, self, other: matmul(self, other),
    "mm": lambda machine, self, other: matmul(self, other),
    "add": lambda machine, self, other, **kwargs: elementwise(self, other, "add", False),
    "sub": lambda machine, self, other, **kwargs: elementwise(self, other, "sub", False),
    "mul": lambda machine, self, other: elementwise(self, other, "mul", False),
    "div": lambda machine, self, other, **kwargs: elementwise(self, other, "truediv", False),
    "eq": lambda machine, self, other: elementwise(self, other, "eq", False),
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
    "stride": lambda machine, self, *args: Unknown("the strides of a tensor", data=True),
    "is_shared": lambda machine, self: False,
    "__len__": lambda machine, self: self.interpreted_len(machine),
}
