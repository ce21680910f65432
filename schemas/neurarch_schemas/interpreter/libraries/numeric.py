"""numpy: small arrays with their values, as constructors compute rates, widths and tables with it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from neurarch_schemas.interpreter.libraries.library import module, nothing
from neurarch_schemas.interpreter.libraries.mathematics import shuffle
from neurarch_schemas.interpreter.torch_nn import factories
from neurarch_schemas.interpreter.torch_nn.decompositions import LINALG
from neurarch_schemas.interpreter.torch_nn.tensor import (
    MOST_VALUES,
    Tensor,
    dtypes,
    elementwise,
    like,
    mapped,
    new_tensor,
)
from neurarch_schemas.interpreter.torch_nn.tensor_methods import tensor_attr
from neurarch_schemas.interpreter.values import MISSING, Builtin, Class, PythonModule, TypingForm, Unknown, Value

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine

_SCALAR: dict[str, Any] = {
    "sqrt": math.sqrt,
    "exp": math.exp,
    "log": math.log,
    "log2": math.log2,
    "log10": math.log10,
    "floor": math.floor,
    "ceil": math.ceil,
    "abs": abs,
    "absolute": abs,
    "round": round,
    "around": round,
    "rint": round,
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "arctan": math.atan,
    "arccos": math.acos,
    "square": lambda x: x * x,
    "sign": lambda x: (x > 0) - (x < 0),
    "isnan": math.isnan,
    "isinf": math.isinf,
    "tanh": math.tanh,
    "log1p": math.log1p,
}


_PAIRS = {
    "power": "pow",
    "multiply": "mul",
    "subtract": "sub",
    "divide": "truediv",
    "maximum": "max",
    "minimum": "min",
    "add": "add",
    "true_divide": "truediv",
    "floor_divide": "floordiv",
    "mod": "mod",
    "equal": "eq",
    "less": "lt",
    "greater": "gt",
}


def array_class(machine: Machine) -> Class:
    known: Class | None = machine.state.get("numpy.ndarray")
    if known is None:
        known = machine.state["numpy.ndarray"] = Class(machine, "ndarray", module="numpy")
    return known


def _array(machine: Machine, made: Value) -> Value:
    if isinstance(made, Tensor):
        made.cls = array_class(machine)
    return made


def _wrapped(function: Any) -> Any:
    """A factory of torch whose arrays are numpy's, in double precision."""

    def call(machine: Machine, *args: Value, **kwargs: Value) -> Value:
        if "dtype" not in kwargs or not hasattr(kwargs["dtype"], "itemsize"):
            given = kwargs.pop("dtype", None)
            kinds = dtypes(machine)
            if given is machine.builtins["int"]:
                kwargs["dtype"] = kinds["int64"]
            elif given is machine.builtins["bool"]:
                kwargs["dtype"] = kinds["bool"]
            elif (
                given is not None or function is not factories.arange or any(isinstance(value, float) for value in args)
            ):
                kwargs["dtype"] = kinds["float64"]
        return _array(machine, function(machine, *args, **kwargs))

    return call


def _make_array(machine: Machine, data: Value = (), dtype: Value = None, *args: Value, **kwargs: Value) -> Value:
    kinds = dtypes(machine)
    made = factories.tensor(machine, data, dtype if hasattr(dtype, "itemsize") else None)
    if made.dtype is kinds["float32"] and not hasattr(dtype, "itemsize"):
        values, _ = factories.flatten(machine, data) if not isinstance(data, Tensor) else (data.values, None)
        made.dtype = kinds["float64"]
        if values is not None and len(values) <= MOST_VALUES:
            made.values = values
    if dtype is machine.builtins["int"]:
        made = machine.call(tensor_attr(machine, made, "long"), [], {})
    return _array(machine, made)


def _function(name: str) -> Any:
    scalar = _SCALAR.get(name)

    def call(machine: Machine, *args: Value, **kwargs: Value) -> Value:
        first = args[0] if args else None
        if type(first) is Unknown:
            return Unknown(first.reason, data=True)
        if isinstance(first, bool | int | float):
            if name in ("round", "around") and len(args) > 1:
                return round(first, args[1])
            if scalar is not None:
                result = scalar(first)
                return float(result) if name in ("floor", "ceil", "round", "around", "rint") else result
            if name in ("maximum", "minimum") and isinstance(args[1], int | float):
                return max(first, args[1]) if name == "maximum" else min(first, args[1])
            if name in ("power", "multiply", "add", "subtract", "divide"):
                operators: dict[str, Any] = {
                    "power": lambda a, b: a**b,
                    "multiply": lambda a, b: a * b,
                    "add": lambda a, b: a + b,
                    "subtract": lambda a, b: a - b,
                    "divide": lambda a, b: a / b,
                }
                if isinstance(args[1], int | float) and abs(args[1]) < 1000:
                    return operators[name](first, args[1])
            if name in ("prod", "sum", "max", "min", "mean", "array", "asarray"):
                return first
        if isinstance(first, list | tuple | range):
            first = _make_array(machine, first)
        second = args[1] if len(args) > 1 else None
        if isinstance(second, Tensor) and isinstance(first, int | float) and name in _PAIRS:
            return _array(machine, elementwise(second, first, _PAIRS[name], True))
        if isinstance(first, Tensor):
            if scalar is not None and len(args) == 1:
                made = mapped(first, scalar)
                if made.values is not None and name in ("floor", "ceil", "round", "around", "rint"):
                    made.values = [float(value) for value in made.values]
                return _array(machine, made)
            if name in _PAIRS and len(args) == 2:
                return _array(machine, elementwise(first, args[1], _PAIRS[name], False))
            found = tensor_attr(machine, first, name)
            if found is not MISSING:
                result = machine.call(found, list(args[1:]), kwargs)
                if isinstance(result, Tensor) and result.shape == () and result.values:
                    return result.values[0]
                return _array(machine, result)
        return _array(machine, new_tensor(machine, None, reason=f"numpy.{name}"))

    return call


# shapes alone: values of these are not followed


def _same_shape(machine: Machine, values: Value, *args: Value, **kwargs: Value) -> Value:
    array = values if isinstance(values, Tensor) else _make_array(machine, values)
    return _array(machine, like(array, array.shape) if isinstance(array, Tensor) else array)


def _transform(half: bool) -> Any:
    """A Fourier transform: as long as its input, or ``n // 2 + 1`` for real input."""

    def call(machine: Machine, values: Value, n: Value = None, axis: Value = -1, norm: Value = None) -> Value:
        array = values if isinstance(values, Tensor) else _make_array(machine, values)
        if not isinstance(array, Tensor) or not array.shape or not isinstance(axis, int):
            return _array(machine, new_tensor(machine, None, reason="a Fourier transform"))
        length = array.shape[axis] if n is None else n
        if not isinstance(length, int):
            return _array(machine, new_tensor(machine, None, reason="a Fourier transform"))
        shape = list(array.shape)
        shape[axis] = length // 2 + 1 if half else length
        return _array(machine, like(array, tuple(shape)))

    return call


def _on_arrays(function: Any) -> Any:
    """A function of torch.linalg, of numpy's arrays."""

    def call(machine: Machine, *args: Value, **kwargs: Value) -> Value:
        arrays = [_make_array(machine, value) if isinstance(value, list | tuple) else value for value in args]
        return function(machine, *arrays, **kwargs)

    return call


def _random_array(shape_from: str) -> Any:
    """Random numbers: an array where a shape is asked for, else one number."""

    def call(machine: Machine, *args: Value, size: Value = None, **kwargs: Value) -> Value:
        if shape_from == "arguments":
            size = args or None
        elif shape_from == "first":
            size = args[0] if args and size is None else size
        elif size is None:
            places = {"third": 2, "second": 1}
            size = args[places[shape_from]] if len(args) > places[shape_from] else None
        if size is None:
            return Unknown("a random number", data=True)
        return _array(machine, factories.filled(None)(machine, size=size))

    return call


def _shuffle(machine: Machine, values: Value) -> None:
    if isinstance(values, Tensor):
        values.written()
        values.values = None
    else:
        shuffle(machine, values)


def _random(machine: Machine) -> PythonModule:
    unknown = lambda machine, *args, **kwargs: Unknown("a random number", data=True)  # noqa: E731
    entries: dict[str, Value] = {
        "seed": nothing,
        "RandomState": unknown,
        "default_rng": unknown,
        "permutation": lambda machine, values: (
            _array(machine, new_tensor(machine, (values,))) if isinstance(values, int) else _same_shape(machine, values)
        ),
        "shuffle": _shuffle,
        **{name: _random_array("arguments") for name in ("rand", "randn")},
        **{name: _random_array("first") for name in ("random", "random_sample", "standard_normal")},
        **{name: _random_array("second") for name in ("choice",)},
        **{name: _random_array("third") for name in ("normal", "uniform", "randint", "laplace", "beta", "gamma")},
    }
    return module("numpy.random", entries, lambda key: Builtin(key, unknown))


def _spaced(machine: Machine, start: Value, stop: Value, num: Value = 50, *args: Value, base: Value = 10.0) -> Value:
    """``numpy.logspace``."""
    made = _wrapped(factories.linspace)(machine, start, stop, num)
    if isinstance(made, Tensor) and made.values is not None and isinstance(base, int | float):
        made.values = [base**value if abs(value) < 300 else math.inf for value in made.values]
    return made


def _stacked(axis: int) -> Any:
    """``vstack``, ``hstack``: arrays of one dimension are rows, or are joined end to end."""

    def call(machine: Machine, arrays: Value, *args: Value, **kwargs: Value) -> Value:
        items = [item if isinstance(item, Tensor) else _make_array(machine, item) for item in machine.iterate(arrays)]
        flat = all(isinstance(item, Tensor) and item.shape is not None and len(item.shape) == 1 for item in items)
        if flat and axis == 0:
            return _array(machine, factories.stack(machine, items, 0))
        return _array(machine, factories.cat(machine, items, 0 if flat else axis))

    return call


_FOURIER = {
    **{name: _transform(False) for name in ("fft", "ifft")},
    "rfft": _transform(True),
    **dict.fromkeys(("fft2", "ifft2", "fftn", "ifftn", "fftshift", "ifftshift"), _same_shape),
    "fftfreq": lambda machine, n, *args, **kwargs: _array(machine, new_tensor(machine, (n,))),
    "rfftfreq": lambda machine, n, *args, **kwargs: _array(machine, new_tensor(machine, (n // 2 + 1,))),
}
_SHAPES: dict[str, Any] = {
    **dict.fromkeys(("real", "imag", "angle", "conj", "conjugate"), _same_shape),
    **dict.fromkeys(("hanning", "hamming", "blackman", "bartlett", "kaiser"), _wrapped(factories.window)),
    "logspace": _spaced,
    "vstack": _stacked(0),
    "hstack": _stacked(1),
    "row_stack": _stacked(0),
    "transpose": lambda machine, values, axes=None: machine.call(
        tensor_attr(machine, values, "transpose"), [] if axes is None else [list(machine.iterate(axes))], {}
    ),
}


def build(machine: Machine, name: str) -> PythonModule:
    from neurarch_schemas.interpreter.torch_nn.tensor_classes import setup

    setup(machine)
    if name == "numpy.random":
        return _random(machine)
    if name == "numpy.fft":
        return module(name, _FOURIER)
    if name == "numpy.linalg":
        return module(
            name, {key: _on_arrays(made) for key, made in LINALG.items()}, lambda key: Builtin(key, _function(key))
        )
    if name != "numpy":
        return module(name, {}, lambda key: Unknown(f"{name}.{key}", data=True))
    kinds = dtypes(machine)
    entries: dict[str, Value] = {
        key: kinds[key]
        for key in (
            "float32",
            "float64",
            "float16",
            "int64",
            "int32",
            "int16",
            "int8",
            "uint8",
            "uint16",
            "uint32",
            "uint64",
            "complex64",
        )
    }
    entries.update(
        bool_=kinds["bool"],
        double=kinds["float64"],
        int_=kinds["int64"],
        float_=kinds["float64"],
        bool=machine.builtins["bool"],
        ndarray=array_class(machine),
        integer=Class(machine, "integer", module="numpy"),
        floating=Class(machine, "floating", module="numpy"),
        number=Class(machine, "number", module="numpy"),
        generic=Class(machine, "generic", module="numpy"),
        array=_make_array,
        asarray=_make_array,
        zeros=_wrapped(factories.filled(0.0)),
        ones=_wrapped(factories.filled(1.0)),
        empty=_wrapped(factories.filled(None)),
        full=_wrapped(factories.full),
        eye=_wrapped(factories.eye),
        identity=_wrapped(factories.eye),
        arange=_wrapped(factories.arange),
        linspace=lambda machine, start, stop, num=50, *args, **kwargs: _wrapped(factories.linspace)(
            machine, start, stop, num
        ),
        concatenate=lambda machine, arrays, axis=0: _array(machine, factories.cat(machine, arrays, axis)),
        stack=lambda machine, arrays, axis=0: _array(machine, factories.stack(machine, arrays, axis)),
        outer=factories.outer,
        meshgrid=factories.meshgrid,
        zeros_like=factories.like_factory(0.0),
        ones_like=factories.like_factory(1.0),
        diag=_on_arrays(factories.diagonal),
        unique=_unique,
        atleast_1d=_at_least_1d,
        prod=_function("prod"),
        array_equal=lambda machine, a, b: Unknown("numpy.array_equal", data=True),
        cumsum=_cumsum,
        **_SHAPES,
        pi=math.pi,
        e=math.e,
        inf=math.inf,
        nan=math.nan,
        newaxis=None,
        isscalar=lambda machine, value: isinstance(value, int | float | str),
        ndim=lambda machine, value: len(value.shape) if isinstance(value, Tensor) and value.shape is not None else 0,
        dtype=lambda machine, value: value,
        random=machine.import_module("numpy.random"),
    )

    def missing(key: str) -> Value:
        if key in ("polynomial", "emath", "char", "rec", "core", "ctypeslib"):
            return Unknown(f"numpy.{key} is not modelled", data=True)
        return TypingForm(key) if key[:1].isupper() else Builtin(key, _function(key))

    made = module("numpy", entries, missing)
    made.namespace["__version__"] = machine.sources.version("numpy") or "2.4.0"
    return made


def _at_least_1d(machine: Machine, values: Value) -> Value:
    made = values if isinstance(values, Tensor) else _make_array(machine, values)
    if isinstance(made, Tensor) and made.shape == ():
        made.shape = (1,)
    return made


def _cumsum(machine: Machine, values: Value, *args: Value, **kwargs: Value) -> Value:
    array = values if isinstance(values, Tensor) else _make_array(machine, values)
    return _array(machine, machine.call(tensor_attr(machine, array, "cumsum"), [0], {}))


def _unique(machine: Machine, values: Value, **kwargs: Value) -> Value:
    array = values if isinstance(values, Tensor) else _make_array(machine, values)
    if array.values is None:
        return new_tensor(machine, None, reason="numpy.unique")
    found = sorted(set(array.values))
    unique = _array(machine, new_tensor(machine, (len(found),), found, array.dtype))
    if kwargs.get("return_counts"):
        counts = [array.values.count(value) for value in found]
        return (unique, _array(machine, new_tensor(machine, (len(found),), counts, dtypes(machine)["int64"])))
    return unique
