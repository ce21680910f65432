"""Tensors as shapes. Small ones keep their values, since constructors compute rates and sizes with them."""

from __future__ import annotations

import math
import operator
import struct
from array import array
from collections.abc import Callable, Iterator
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

from neurarch_schemas.interpreter.values import MISSING, Builtin, Class, Unknown, UnknownTruth, Value

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine

Shape = tuple[int, ...]
MOST_VALUES = 1024


class DType:
    __slots__ = ("is_complex", "is_floating_point", "itemsize", "name")

    def __init__(self, name: str, itemsize: int, floating: bool, is_complex: bool = False) -> None:
        self.name = name
        self.itemsize = itemsize
        self.is_floating_point = floating
        self.is_complex = is_complex

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def interpreted_attr(self, machine: Machine, name: str) -> Value:
        if name in ("itemsize", "is_floating_point", "is_complex"):
            return getattr(self, name)
        if name in ("type", "__class__", "name", "__name__"):
            return self.name if name != "type" else self
        if name in ("to_complex", "to_real"):
            return Builtin(name, lambda machine: self)
        return MISSING

    def interpreted_call(self, machine: Machine, value: Value = 0, *args: Value) -> Value:
        """numpy's scalar types are called to convert."""
        if isinstance(value, Tensor):
            return value
        if isinstance(value, str | int | float):
            return float(value) if self.is_floating_point else int(value)
        return Unknown(f"{self.name}()", data=True)


class Device:
    """A device, also a context manager."""

    __slots__ = ("index", "type")

    def __init__(self, type: Value = "cpu", index: Value = None) -> None:  # noqa: A002  # torch's name
        if isinstance(type, str) and ":" in type:
            type, _, number = type.partition(":")  # noqa: A001
            index = int(number) if number.isdecimal() else None
        self.type = type
        self.index = index

    def __eq__(self, other: object) -> bool:
        return (isinstance(other, Device) and self.type == other.type) or (
            isinstance(other, str) and other == self.type
        )

    def __hash__(self) -> int:
        return hash(self.type)

    def __str__(self) -> str:
        return str(self.type)

    def interpreted_attr(self, machine: Machine, name: str) -> Value:
        if name in ("type", "index"):
            return getattr(self, name)
        if name == "__enter__":
            return Builtin(name, lambda machine: self)
        if name == "__exit__":
            return Builtin(name, lambda machine, *args: None)
        return MISSING


class Tensor:
    """``shape`` is None where it cannot be told, ``values`` (row-major) where there are too many or they are random."""

    __slots__ = ("attrs", "base", "cls", "dtype", "reason", "requires_grad", "shape", "values")

    def __init__(
        self,
        cls: Class,
        shape: Shape | None,
        dtype: DType,
        values: list[Any] | None = None,
        reason: str = "",
        requires_grad: bool = False,
    ) -> None:
        self.cls = cls
        self.shape = shape
        self.dtype = dtype
        self.values = values
        self.reason = reason
        self.requires_grad = requires_grad
        self.attrs: dict[str, Value] = {}
        self.base: Tensor | None = None
        """The tensor this is a view of: what is written here changes that one."""

    def written(self) -> None:
        """Its values change, and with them those of the tensors it is a view of, which are no longer told."""
        base = self.base
        while base is not None:
            base.values = None
            base = base.base

    def __repr__(self) -> str:
        return f"tensor({self.values if self.values is not None else self.shape})"

    __hash__ = object.__hash__

    def interpreted_attr(self, machine: Machine, name: str) -> Value:
        from neurarch_schemas.interpreter.torch_nn.tensor_methods import tensor_attr

        return tensor_attr(machine, self, name)

    def interpreted_set_attr(self, machine: Machine, name: str, value: Value) -> None:
        if name == "data":
            self.written()
            if isinstance(value, Tensor):
                self.shape, self.values, self.dtype, self.reason = value.shape, value.values, value.dtype, value.reason
            elif type(value) is Unknown:
                self.shape, self.values, self.reason = None, None, value.reason
        elif name == "requires_grad":
            self.requires_grad = value
        else:
            self.attrs[name] = value

    def interpreted_len(self, machine: Machine) -> Value:
        if self.shape is None:
            return Unknown(self.reason or "the length of a tensor", data=True)
        if not self.shape:
            machine.fail("TypeError", "len() of a 0-d tensor")
        return self.shape[0]

    def interpreted_iter(self, machine: Machine) -> Iterator[Value]:
        if self.shape is None or not self.shape:
            raise UnknownTruth(Unknown(self.reason or "the items of a tensor", data=True))
        machine.meter.size(self.shape[0])
        return iter([self.interpreted_getitem(machine, index) for index in range(self.shape[0])])

    def interpreted_item(self, machine: Machine) -> Value:
        if self.values is not None and len(self.values) == 1:
            return self.values[0]
        return Unknown("the value of a tensor", data=True)

    def interpreted_getitem(self, machine: Machine, key: Value) -> Value:
        from neurarch_schemas.interpreter.torch_nn.indexing import index

        return index(machine, self, key)

    def interpreted_setitem(self, machine: Machine, key: Value, item: Value) -> None:
        self.written()
        if self.values is not None:
            from neurarch_schemas.interpreter.torch_nn.indexing import index
            from neurarch_schemas.interpreter.torch_nn.picking import set_items

            set_items(self, index(machine, like(self, self.shape, list(range(len(self.values)))), key), item)

    def interpreted_deepcopy(self, machine: Machine) -> Value:
        machine.meter.progress()
        return self.copy()

    interpreted_copy = interpreted_deepcopy

    def copy(self) -> Tensor:
        made = Tensor(self.cls, self.shape, self.dtype, None if self.values is None else list(self.values), self.reason)
        made.requires_grad = self.requires_grad
        made.attrs = dict(self.attrs)
        return made

    def _binary(self, name: str, other: Any, reverse: bool = False) -> Any:
        return elementwise(self, other, name, reverse)

    def __bool__(self) -> bool:
        if self.values is not None and len(self.values) == 1:
            return bool(self.values[0])
        raise UnknownTruth(Unknown(self.reason or "the values of a tensor", data=True))

    def __index__(self) -> int:
        if self.values is not None and len(self.values) == 1:
            return int(self.values[0])
        raise UnknownTruth(Unknown("the value of a tensor", data=True))

    __int__ = __index__

    def __float__(self) -> float:
        if self.values is not None and len(self.values) == 1:
            return float(self.values[0])
        raise UnknownTruth(Unknown("the value of a tensor", data=True))

    def __neg__(self) -> Tensor:
        return mapped(self, operator.neg)

    def __pos__(self) -> Tensor:
        return self

    def __abs__(self) -> Tensor:
        return mapped(self, abs)

    def __invert__(self) -> Tensor:
        return mapped(self, lambda value: not value if isinstance(value, bool) else ~value)

    def __eq__(self, other: object) -> Any:
        if other is None or isinstance(other, str):
            return False
        return elementwise(self, other, "eq", False)

    def __ne__(self, other: object) -> Any:
        if other is None or isinstance(other, str):
            return True
        return elementwise(self, other, "ne", False)


def _install_operators() -> None:
    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor", "matmul"):
        setattr(Tensor, f"__{name}__", lambda self, other, name=name: self._binary(name, other))
        setattr(Tensor, f"__r{name}__", lambda self, other, name=name: self._binary(name, other, True))
    for name in ("lt", "le", "gt", "ge"):
        setattr(Tensor, f"__{name}__", lambda self, other, name=name: self._binary(name, other))


_install_operators()

_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "truediv": operator.truediv,
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "pow": operator.pow,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "eq": operator.eq,
    "ne": operator.ne,
    "max": max,
    "min": min,
}


def dtypes(machine: Machine) -> dict[str, DType]:
    known: dict[str, DType] | None = machine.state.get("dtypes")
    if known is None:
        known = {}
        for names, size, floating in (
            ("float32 float", 4, True),
            ("float64 double", 8, True),
            ("float16 half", 2, True),
            ("bfloat16", 2, True),
            ("int64 long", 8, False),
            ("int32 int", 4, False),
            ("int16 short", 2, False),
            ("int8", 1, False),
            ("uint8", 1, False),
            ("uint16", 2, False),
            ("uint32", 4, False),
            ("uint64", 8, False),
            ("bool", 1, False),
            ("float8_e4m3fn", 1, True),
            ("float8_e5m2", 1, True),
            ("float8_e4m3fnuz", 1, True),
            ("float8_e5m2fnuz", 1, True),
            ("float8_e8m0fnu", 1, True),
            ("qint8", 1, False),
            ("quint8", 1, False),
            ("qint32", 4, False),
            ("int4", 1, False),
            ("uint4", 1, False),
            ("int1", 1, False),
            ("int2", 1, False),
            ("uint1", 1, False),
            ("uint2", 1, False),
            ("uint3", 1, False),
            ("uint5", 1, False),
            ("uint6", 1, False),
            ("uint7", 1, False),
            ("float4_e2m1fn_x2", 1, True),
        ):
            made = DType(names.split()[0], size, floating)
            for name in names.split():
                known[name] = made
        for name, size in (("complex64", 8), ("complex128", 16), ("complex32", 4)):
            known[name] = DType(name, size, False, True)
        known["cfloat"] = known["complex64"]
        machine.state["dtypes"] = known
    return known


def tensor_class(machine: Machine) -> Class:
    return machine.state["torch.Tensor"]  # type: ignore[no-any-return]  # set up by classes.py


def new_tensor(
    machine: Machine,
    shape: Shape | None,
    values: list[Any] | None = None,
    dtype: DType | None = None,
    reason: str = "",
    cls: Class | None = None,
) -> Tensor:
    kinds = dtypes(machine)
    if dtype is None:
        dtype = kinds["float32"]
    if values is not None:
        if len(values) > MOST_VALUES:
            values = None
        elif dtype.name == "float32" and dtype.is_floating_point:
            values = singles(values)
    return Tensor(cls or tensor_class(machine), shape, dtype, values, reason)


def unknown_tensor(machine: Machine, reason: str = "a tensor computed while building") -> Tensor:
    return new_tensor(machine, None, reason=reason)


def single(value: Any) -> Any:
    """Rounded to single precision, as torch's default type holds it."""
    if isinstance(value, float | int) and not isinstance(value, bool):
        try:
            return struct.unpack("f", struct.pack("f", value))[0]
        except OverflowError:
            return math.inf if value > 0 else -math.inf
    return value


def singles(values: list[Any]) -> list[Any]:
    """All of them rounded to single precision."""
    try:
        return array("f", values).tolist()
    except TypeError:
        return [single(value) for value in values]


def like(source: Tensor, shape: Shape | None, values: list[Any] | None = None) -> Tensor:
    """A plain tensor beside a source (never a parameter)."""
    machine = source.cls.machine
    cls = source.cls if source.cls.name == "ndarray" else tensor_class(machine)
    if values is not None and len(values) > MOST_VALUES:
        values = None
    return Tensor(cls, shape, source.dtype, values, source.reason)


def view(source: Tensor, shape: Shape | None, values: list[Any] | None = None) -> Tensor:
    """A tensor that shares the memory of its source."""
    made = like(source, shape, values)
    made.base = source
    return made


def mapped(source: Tensor, function: Callable[[Any], Any]) -> Tensor:
    values = None
    if source.values is not None:
        try:
            values = [_rounded(source, function(value)) for value in source.values]
        except (ValueError, OverflowError, TypeError, ZeroDivisionError):
            values = None
    made = like(source, source.shape, values)
    if values and isinstance(values[0], float) and not source.dtype.is_floating_point:
        made.dtype = dtypes(source.cls.machine)["float32"]
    return made


def _rounded(source: Tensor, value: Any) -> Any:
    return single(value) if source.dtype.name == "float32" and isinstance(value, float) else value


def broadcast(left: Shape | None, right: Shape | None) -> Shape | None:
    """The common shape. Raises ValueError."""
    if left is None or right is None:
        return None
    size = max(len(left), len(right))
    padded_left = (1,) * (size - len(left)) + left
    padded_right = (1,) * (size - len(right)) + right
    result = []
    for a, b in zip(padded_left, padded_right, strict=True):
        if a != b and 1 not in (a, b):
            raise ValueError(f"shapes {left} and {right} cannot be broadcast")
        result.append(b if a == 1 else a)
    return tuple(result)


def spread(values: list[Any], shape: Shape, target: Shape) -> list[Any]:
    """Values of a tensor as broadcast to a larger shape."""
    if shape == target:
        return values
    if len(values) == 1:
        return values * prod(target)
    padded = (1,) * (len(target) - len(shape)) + shape
    strides = []
    step = 1
    for size in reversed(padded):
        strides.append(0 if size == 1 else step)
        step *= size
    strides.reverse()
    return [values[sum(i * s for i, s in zip(place, strides, strict=True))] for place in product(*map(range, target))]


def elementwise(left: Tensor, right: Any, name: str, reverse: bool) -> Any:
    machine = left.cls.machine
    if type(right) is Unknown:
        return like(left, None)
    if name == "matmul":
        return matmul(right, left) if reverse else matmul(left, right)
    other_shape: Shape | None
    other_values: list[Any] | None
    if isinstance(right, Tensor):
        other_shape, other_values = right.shape, right.values
    elif isinstance(right, bool | int | float | complex):
        other_shape, other_values = (), [right]
    elif isinstance(right, list | tuple):
        from neurarch_schemas.interpreter.torch_nn.factories import flatten

        other_values, other_shape = flatten(machine, right)
    else:
        return NotImplemented
    shape = broadcast(left.shape, other_shape)
    values: list[Any] | None = None
    if shape is not None and left.values is not None and other_values is not None and prod(shape) <= MOST_VALUES:
        assert left.shape is not None
        assert other_shape is not None
        pairs = zip(spread(left.values, left.shape, shape), spread(other_values, other_shape, shape), strict=True)
        function = _OPERATORS[name]
        try:
            values = [function(b, a) if reverse else function(a, b) for a, b in pairs]
        except (ZeroDivisionError, OverflowError, ValueError, TypeError):
            values = None
    made = like(left, shape, values)
    kinds = dtypes(machine)
    if name in ("lt", "le", "gt", "ge", "eq", "ne"):
        made.dtype = kinds["bool"]
    elif not left.dtype.is_floating_point and (
        name == "truediv" or isinstance(right, float) or (isinstance(right, Tensor) and right.dtype.is_floating_point)
    ):
        made.dtype = kinds["float64"] if made.cls.name == "ndarray" else kinds["float32"]
    if values is not None and made.dtype.name == "float32" and made.dtype.is_floating_point:
        made.values = singles(values)
    return made


def _product(left: list[Any] | None, right: list[Any] | None, rows: int, inner: int, columns: int) -> list[Any] | None:
    if left is None or right is None or rows * columns > MOST_VALUES:
        return None
    return [
        sum(left[row * inner + each] * right[each * columns + column] for each in range(inner))
        for row in range(rows)
        for column in range(columns)
    ]


def matmul(left: Any, right: Any) -> Any:
    if not isinstance(left, Tensor) or not isinstance(right, Tensor):
        return NotImplemented
    a, b = left.shape, right.shape
    if a is None or b is None or not a or not b:
        return like(left, None)
    if len(a) == 1 and len(b) == 1:
        return like(left, ())
    if len(a) == len(b) == 2 and a[1] == b[0]:
        return like(left, (a[0], b[1]), _product(left.values, right.values, a[0], a[1], b[1]))
    if len(b) == 1:
        return like(left, a[:-1])
    if len(a) == 1:
        return like(left, (*b[:-2], b[-1]))
    batch = broadcast(a[:-2], b[:-2])
    return like(left, None if batch is None else (*batch, a[-2], b[-1]))
