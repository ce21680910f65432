"""The module ``torch`` itself."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from neurarch_schemas.interpreter.libraries.library import module, nothing
from neurarch_schemas.interpreter.torch_nn import factories
from neurarch_schemas.interpreter.torch_nn.answers import context_class, decorator, false
from neurarch_schemas.interpreter.torch_nn.base import module_class
from neurarch_schemas.interpreter.torch_nn.decompositions import OWN
from neurarch_schemas.interpreter.torch_nn.picking import unique
from neurarch_schemas.interpreter.torch_nn.pointwise import PAIRS
from neurarch_schemas.interpreter.torch_nn.tensor import Device, Tensor, dtypes, elementwise, unknown_tensor
from neurarch_schemas.interpreter.torch_nn.tensor_methods import METHODS, tensor_attr
from neurarch_schemas.interpreter.values import (
    MISSING,
    Builtin,
    Class,
    Instance,
    PythonModule,
    TypingForm,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine


def _device(machine: Machine, *args: Value, **kwargs: Value) -> Value:
    for value in (*args, *kwargs.values()):
        if type(value) is Unknown:
            return Device("cpu")
    if args and isinstance(args[0], Device):
        return args[0]
    return Device(*args, **kwargs)


def tensor_function(name: str) -> Any:
    """A function of torch that is also a method of tensors."""

    def call(machine: Machine, *args: Value, **kwargs: Value) -> Value:
        first = args[0] if args else kwargs.pop("input", None)
        if isinstance(first, Tensor):
            found = tensor_attr(machine, first, name)
            if isinstance(found, Tensor):
                return found
            if found is not MISSING:
                kwargs.pop("out", None)
                return machine.call(found, list(args[1:]), kwargs)
        if type(first) is Unknown:
            return unknown_tensor(machine, first.reason)
        if isinstance(first, int | float) and name in _SCALARS:
            return _SCALARS[name](first)
        return unknown_tensor(machine)

    return call


_SCALARS: dict[str, Any] = {
    "sqrt": math.sqrt,
    "exp": math.exp,
    "log": math.log,
    "floor": math.floor,
    "ceil": math.ceil,
    "abs": abs,
    "round": round,
}


def _pair(name: str) -> Any:
    """A function of two operands, either of which may be the tensor."""
    kind = PAIRS.get(name, name)

    def call(machine: Machine, a: Value = None, b: Value = None, *args: Value, **options: Value) -> Value:
        a, b = options.pop("input", a), options.pop("other", b)
        if isinstance(a, Tensor):
            return machine.call(tensor_attr(machine, a, name), [b, *args], options)
        if isinstance(b, Tensor):
            return elementwise(b, a, kind, True)
        return Unknown(f"torch.{name}", data=True)

    return call


def _missing(name: str) -> Value:
    if name.startswith("_") or name in ("ops", "classes"):
        return Unknown(f"torch.{name}", data=True)
    if name[:1].isupper():
        if name.endswith("Tensor"):
            return Builtin(name, factories.old_tensor(name))
        return TypingForm(f"torch.{name}")
    return Builtin(name, tensor_function(name))


def torch(machine: Machine) -> PythonModule:
    kinds = dtypes(machine)
    entries: dict[str, Value] = dict(kinds)
    entries.update(
        Tensor=machine.state["torch.Tensor"],
        dtype=machine.type_of(kinds["float32"]),
        Size=machine.builtins["tuple"],
        device=_device_class(machine),
        tensor=factories.tensor,
        as_tensor=factories.tensor,
        asarray=factories.tensor,
        from_numpy=factories.tensor,
        scalar_tensor=factories.tensor,
        zeros=factories.filled(0.0),
        ones=factories.filled(1.0),
        empty=factories.filled(None),
        randn=factories.filled(None),
        rand=factories.filled(None),
        randperm=factories.random_integers,
        randint=factories.random_integers,
        normal=lambda machine, mean=0, std=1, size=None, **k: (
            factories.filled(None)(machine, size=size) if size is not None else unknown_tensor(machine)
        ),
        full=factories.full,
        eye=factories.eye,
        **dict.fromkeys(
            ("hann_window", "hamming_window", "blackman_window", "bartlett_window", "kaiser_window"), factories.window
        ),
        arange=factories.arange,
        range=factories.closed_range,
        linspace=factories.linspace,
        logspace=factories.logspace,
        cat=factories.cat,
        concat=factories.cat,
        concatenate=factories.cat,
        stack=factories.stack,
        **dict.fromkeys(("vstack", "row_stack"), factories.joined(0)),
        hstack=factories.joined(1),
        dstack=factories.joined(2),
        outer=factories.outer,
        ger=factories.outer,
        meshgrid=factories.meshgrid,
        cartesian_prod=lambda machine, *tensors: unknown_tensor(machine),
        where=factories.where,
        broadcast_tensors=factories.broadcast_tensors,
        zeros_like=factories.like_factory(0),
        ones_like=factories.like_factory(1),
        empty_like=factories.like_factory(None),
        full_like=factories.full_like,
        rand_like=factories.like_factory(None),
        randn_like=factories.like_factory(None),
        **{key: _pair(key) for key in (*PAIRS, "add", "sub", "subtract", "pow")},
        diff=factories.diff,
        diag=factories.diagonal,
        qr=factories.orthogonal_triangular,
        unique=unique,
        **OWN,
        einsum=lambda machine, equation, *operands: factories.einsum(machine, equation, operands),
        polar=factories.polar,
        is_tensor=lambda machine, value: isinstance(value, Tensor),
        numel=lambda machine, value: METHODS["numel"](machine, value),
        is_floating_point=lambda machine, value: value.dtype.is_floating_point if isinstance(value, Tensor) else False,
        compile=decorator,
        no_grad=context_class(machine, "no_grad"),
        enable_grad=context_class(machine, "enable_grad"),
        inference_mode=context_class(machine, "inference_mode"),
        set_grad_enabled=context_class(machine, "set_grad_enabled"),
        autocast=context_class(machine, "autocast"),
        Generator=lambda machine, *args, **kwargs: Unknown("a random generator", data=True),
        manual_seed=nothing,
        seed=nothing,
        set_default_dtype=nothing,
        set_default_device=nothing,
        set_float32_matmul_precision=nothing,
        get_default_dtype=lambda machine: kinds["float32"],
        get_default_device=lambda machine: Device("cpu"),
        get_num_threads=lambda machine: 1,
        is_grad_enabled=lambda machine: True,
        is_inference_mode_enabled=false,
        is_autocast_enabled=false,
        are_deterministic_algorithms_enabled=false,
        get_rng_state=lambda machine, *a: Unknown("the random state", data=True),
        set_rng_state=nothing,
        save=nothing,
        load=lambda machine, *args, **kwargs: Unknown("a checkpoint", data=True),
        finfo=_finfo,
        iinfo=_finfo,
        typename=lambda machine, value: Unknown("a type name", data=True),
        promote_types=lambda machine, a, b: a,
        result_type=lambda machine, a, b: kinds["float32"],
        pi=math.pi,
        e=math.e,
        inf=math.inf,
        nan=math.nan,
        strided=Unknown("a layout", data=True),
        contiguous_format=Unknown("a memory format", data=True),
        channels_last=Unknown("a memory format", data=True),
        preserve_format=Unknown("a memory format", data=True),
        layout=TypingForm("torch.layout"),
        memory_format=TypingForm("torch.memory_format"),
        Module=module_class(machine),
        _assert=nothing,
        _check=nothing,
        _logging=Unknown("torch._logging", data=True),
        is_complex=lambda machine, value: False,
        is_storage=false,
        is_nonzero=lambda machine, value: machine.truth(value),
        get_autocast_dtype=lambda machine, *a: kinds["float16"],
        get_autocast_gpu_dtype=lambda machine, *a: kinds["float16"],
        get_float32_matmul_precision=lambda machine: "highest",
        _C=Unknown("torch._C", data=True),
    )
    made = module("torch", entries, _missing)
    made.namespace["__version__"] = machine.sources.version("torch") or "2.13.0"
    return made


def _device_class(machine: Machine) -> Class:
    known: Class | None = machine.host_classes.get(Device)
    if known is None:
        known = machine.host_classes[Device] = Class(machine, "device", module="torch", construct=_device)
    return known


def _finfo(machine: Machine, dtype: Value = None) -> Value:
    made = Instance(Class(machine, "finfo", module="torch"))
    made.attrs.update(
        min=-3.4028234663852886e38,
        max=3.4028234663852886e38,
        eps=1.1920928955078125e-07,
        tiny=1.1754943508222875e-38,
        bits=32,
        dtype=dtype,
        smallest_normal=1.1754943508222875e-38,
    )
    return made
