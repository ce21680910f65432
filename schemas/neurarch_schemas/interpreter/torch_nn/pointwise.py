"""Functions of tensors that go item by item: the shape stays, or is the one that tensors are broadcast to."""

from __future__ import annotations

import math
from functools import reduce
from typing import TYPE_CHECKING, Any

from neurarch_schemas.interpreter.torch_nn.tensor import DType, Tensor, broadcast, dtypes, elementwise, like, mapped
from neurarch_schemas.interpreter.values import Value

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine


SAME_SHAPE = frozenset(
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
        "softmax",
        "log_softmax",
        "cumsum",
        "cumprod",
        "cumlogsumexp",
        "triu",
        "tril",
        "fill_",
        "zero_",
        "normal_",
        "uniform_",
        "copy_",
        "roll",
        "logical_not",
        "bitwise_not",
        "reciprocal",
        "square",
        "pow",
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
        "scatter_add_",
        "index_fill_",
        "index_add_",
        "detach_",
        "log_normal_",
        "cauchy_",
        "geometric_",
        "clamp_min_",
        "erfinv",
        "data_ptr_",
        "astype",
        "copy",
        "expm1",
        "softplus",
        "deg2rad",
        "rad2deg",
        "digamma",
        "lgamma",
        "logit",
        "frac",
        "positive",
        "negative",
        "absolute",
        "acos",
        "asin",
        "atan",
        "arccos",
        "arcsin",
        "arctan",
        "asinh",
        "acosh",
        "atanh",
        "erfc",
        "i0",
        "isnan",
        "isinf",
        "isfinite",
        "signbit",
        "sgn",
        "sinc",
        "angle",
        "logcumsumexp",
        "bernoulli",
        "hardshrink",
        "prelu",
        "renorm",
        "argsort",
        "fix",
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
_ALSO_IN_PLACE = frozenset(["add", "clamp", "cos", "div", "exp", "log", "mul", "neg", "pow", "sin", "sqrt", "sub"])
"""Functions whose methods with an underscore change the tensor's own values."""
_DTYPE_METHODS = {
    "float": "float32", "double": "float64", "half": "float16", "bfloat16": "bfloat16", "long": "int64", "int": "int32",
    "short": "int16", "bool": "bool", "byte": "uint8",
}  # fmt: skip


def same_shape(name: str) -> Any:
    function = _FUNCTIONS.get(name)

    def call(machine: Machine, self: Tensor, *args: Value, **kwargs: Value) -> Value:
        if name.endswith("_"):
            if name not in ("requires_grad_", "detach_", "share_memory_"):
                self.written()
            if name == "requires_grad_":
                self.requires_grad = args[0] if args else kwargs.get("requires_grad", True)
            elif name == "copy_" and args and isinstance(args[0], Tensor):
                self.values = args[0].values if args[0].shape == self.shape else None
            elif name == "fill_" and self.values is not None and args and isinstance(args[0], int | float):
                self.values = [args[0]] * len(self.values)
            elif name == "zero_" and self.values is not None:
                self.values = [0] * len(self.values)
            elif name[:-1] in _ALSO_IN_PLACE:
                made = POINTWISE[name[:-1]](machine, self, *args, **kwargs)
                self.values = made.values if isinstance(made, Tensor) and made.shape == self.shape else None
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
        if name == "pow" and args:
            return elementwise(self, args[0], "pow", False)
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


def _clamp(machine: Machine, self: Tensor, low: Value = None, high: Value = None, **kwargs: Value) -> Value:
    low, high = kwargs.get("min", low), kwargs.get("max", high)
    if isinstance(low, Tensor) or isinstance(high, Tensor):
        return _broadcasting(machine, self, low, high)
    if self.values is not None and all(bound is None or isinstance(bound, int | float) for bound in (low, high)):
        return mapped(
            self,
            lambda value: min(value if low is None else max(value, low), math.inf if high is None else high),
        )
    return like(self, self.shape)


def _broadcasting(machine: Machine, self: Tensor, *args: Value, **kwargs: Value) -> Value:
    """The shape of the tensor and all tensors among the arguments, broadcast."""
    shapes = [each.shape for each in (self, *args, *kwargs.values()) if isinstance(each, Tensor)]
    return like(self, reduce(broadcast, shapes))


def _scaled(name: str) -> Any:
    """``add(other, alpha)``."""

    def call(machine: Machine, self: Tensor, other: Value = None, alpha: Value = 1, **kwargs: Value) -> Value:
        if isinstance(alpha, Tensor):
            return like(self, None)
        made = elementwise(self, kwargs.get("other", other), name, False)
        return (
            made if (isinstance(alpha, int) and alpha == 1) or not isinstance(made, Tensor) else like(made, made.shape)
        )

    return call


def _paired(name: str) -> Any:
    def call(machine: Machine, self: Tensor, other: Value = None, **kwargs: Value) -> Value:
        kind = "floordiv" if name == "truediv" and kwargs.get("rounding_mode") == "floor" else name
        return elementwise(self, kwargs.get("other", other), kind, False)

    return call


PAIRS = {
    "mul": "mul", "multiply": "mul", "div": "truediv", "divide": "truediv", "true_divide": "truediv",
    "floor_divide": "floordiv", "remainder": "mod", "eq": "eq", "ne": "ne", "not_equal": "ne", "lt": "lt", "less": "lt",
    "le": "le", "less_equal": "le", "gt": "gt", "greater": "gt", "ge": "ge", "greater_equal": "ge", "maximum": "max",
    "minimum": "min",
}  # fmt: skip
"""Methods of two operands and the operator each is."""

POINTWISE: dict[str, Any] = {
    **{name: same_shape(name) for name in SAME_SHAPE},
    **dict.fromkeys(("clamp", "clip"), _clamp),
    **dict.fromkeys(
        ("clamp_min", "clamp_max", "logical_and", "logical_or", "logical_xor", "lerp", "masked_fill", "fmod", "xlogy",
         "copysign", "atan2", "arctan2", "hypot", "float_power", "fmax", "fmin", "addcmul", "addcdiv", "heaviside",
         "nextafter", "ldexp", "gcd", "lcm", "bitwise_and", "bitwise_or", "bitwise_xor"),
        _broadcasting,
    ),
    **{name: _scaled(kind) for name, kind in (("add", "add"), ("sub", "sub"), ("subtract", "sub"))},
    **{name: _paired(kind) for name, kind in PAIRS.items()},
}  # fmt: skip
