"""The modules of torch: what constructors use of them is modelled, the rest gives tensors or data of unknown value."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from neurarch_schemas.interpreter.libraries.library import method, module, new_class, nothing, unknown_any, unknown_data
from neurarch_schemas.interpreter.torch_nn import factories, parametrize, shapes
from neurarch_schemas.interpreter.torch_nn.base import module_class, new_parameter
from neurarch_schemas.interpreter.torch_nn.containers import container_classes
from neurarch_schemas.interpreter.torch_nn.layers import layer_classes
from neurarch_schemas.interpreter.torch_nn.pointwise import PAIRS
from neurarch_schemas.interpreter.torch_nn.tensor import Device, Tensor, dtypes, elementwise, new_tensor, unknown_tensor
from neurarch_schemas.interpreter.torch_nn.tensor_methods import METHODS, tensor_attr
from neurarch_schemas.interpreter.torch_nn.transformer import transformer_classes
from neurarch_schemas.interpreter.values import (
    MISSING,
    Builtin,
    Class,
    ClassMethod,
    Instance,
    PythonModule,
    TypingForm,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine


def build(machine: Machine, name: str) -> PythonModule:
    setup(machine)
    maker = _MAKERS.get(name)
    if maker is not None:
        made: PythonModule = maker(machine)
        return made
    if name.startswith("torch.nn.modules") or name in ("torch.nn.parameter", "torch.nn.common_types"):
        classes = machine.modules.get("torch.nn") or machine.import_module("torch.nn")
        return module(
            name,
            {key: value for key, value in classes.namespace.items() if not key.startswith("__")},
            unknown_any(name),
        )
    if name in (
        "torch.nn.utils.parametrize",
        "torch.nn.utils.parametrizations",
        "torch.nn.utils.weight_norm",
        "torch.nn.utils.spectral_norm",
    ):
        return parametrize.build(machine, name)
    return module(name, {}, _form_or_data(name))


def _form_or_data(name: str) -> Any:
    return unknown_data(name)


def setup(machine: Machine) -> None:
    """The tensor classes, once."""
    if "torch.Tensor" in machine.state:
        return
    tensor = Class(machine, "Tensor", (), {}, "torch")
    tensor.metaclass = Class(machine, "_TensorMeta", (), {"__getattr__": method("__getattr__", _unbound)}, "torch")
    tensor.construct = factories.old_tensor("Tensor")
    machine.state["torch.Tensor"] = tensor
    parameter = Class(machine, "Parameter", (tensor,), {}, "torch.nn.parameter", construct=make_parameter)
    machine.state["torch.nn.Parameter"] = parameter
    uninitialized = Class(
        machine, "UninitializedParameter", (parameter,), {}, "torch.nn.parameter", construct=_uninitialized
    )
    machine.state["torch.nn.UninitializedParameter"] = uninitialized
    made_buffer = Class(machine, "Buffer", (tensor,), {}, "torch.nn.parameter", construct=_make_buffer)
    machine.state["torch.nn.Buffer"] = made_buffer
    for _name in ("Tensor",):
        tensor.namespace["__new__"] = _static(_new_tensor)
    parameter.namespace["__new__"] = _static(_new_parameter)


def _unbound(machine: Machine, cls: Class, name: str) -> Value:
    """``torch.Tensor.clone``: a method as a function of the tensor."""
    if name.startswith("__"):
        machine.fail("AttributeError", f"type object '{cls.name}' has no attribute '{name}'")

    def call(machine: Machine, tensor: Value, *args: Value, **kwargs: Value) -> Value:
        return machine.call(machine.get_attr(tensor, name), list(args), kwargs)

    return Builtin(name, call)


def _static(function: Any) -> Value:
    from neurarch_schemas.interpreter.values import StaticMethod

    return StaticMethod(Builtin("__new__", function))


def _new_tensor(machine: Machine, cls: Class, *args: Value, **kwargs: Value) -> Value:
    made = factories.old_tensor("Tensor")(machine, *args)
    made.cls = cls
    return made


def _new_parameter(
    machine: Machine, cls: Class, data: Value = None, requires_grad: Value = True, **kwargs: Value
) -> Value:
    made = make_parameter(machine, data, requires_grad)
    if isinstance(made, Tensor):
        made.cls = cls
    return made


def make_parameter(machine: Machine, data: Value = None, requires_grad: Value = True, **options: Value) -> Value:
    if data is None:
        data = new_tensor(machine, (0,))
    if type(data) is Unknown:
        return new_parameter(machine, None, data.reason)
    if not isinstance(data, Tensor):
        return machine.fail("TypeError", "Parameter data must be a tensor")
    made = new_parameter(machine, data.shape, data.reason)
    made.dtype = data.dtype
    made.values = data.values
    made.requires_grad = requires_grad
    return made


def _uninitialized(machine: Machine, *args: Value, **options: Value) -> Value:
    made = new_parameter(machine, None, "a lazy parameter has no shape before the first forward pass")
    made.cls = machine.state["torch.nn.UninitializedParameter"]
    return made


def _make_buffer(machine: Machine, data: Value = None, *, persistent: Value = True) -> Value:
    if not isinstance(data, Tensor):
        return Unknown("a buffer of an unknown tensor")
    made = new_tensor(machine, data.shape, data.values, data.dtype, data.reason, machine.state["torch.nn.Buffer"])
    made.attrs["persistent"] = persistent
    return made


# contexts and decorators


def context_class(machine: Machine, name: str, module_name: str = "torch") -> Class:
    """Usable as a context manager, a decorator, or both."""

    def call(machine: Machine, self: Instance, function: Value) -> Value:
        return function

    cls = new_class(
        machine,
        name,
        module_name,
        {"__init__": nothing, "__enter__": lambda machine, self: self, "__exit__": nothing, "__call__": call},
    )

    def construct(machine: Machine, *args: Value, **kwargs: Value) -> Value:
        if len(args) == 1 and not kwargs and type(args[0]).__name__ in ("Function", "BoundMethod", "Class"):
            return args[0]
        return Instance(cls)

    cls.construct = construct
    return cls


def _decorator(machine: Machine, function: Value = None, *args: Value, **options: Value) -> Value:
    """``@torch.compile`` and ``@torch.jit.script``, with and without arguments."""
    if function is None or isinstance(function, str | bool):
        return Builtin("decorator", lambda machine, function: function)
    return function


def _false(machine: Machine, *args: Value, **kwargs: Value) -> bool:
    return False


def _true(machine: Machine, *args: Value, **kwargs: Value) -> bool:
    return True


def _zero(machine: Machine, *args: Value, **kwargs: Value) -> int:
    return 0


# torch


def _device(machine: Machine, *args: Value, **kwargs: Value) -> Value:
    for value in (*args, *kwargs.values()):
        if type(value) is Unknown:
            return Device("cpu")
    if args and isinstance(args[0], Device):
        return args[0]
    return Device(*args, **kwargs)


def _tensor_function(name: str) -> Any:
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
    return Builtin(name, _tensor_function(name))


def _torch(machine: Machine) -> PythonModule:
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
        full_like=factories.like_factory(None),
        rand_like=factories.like_factory(None),
        randn_like=factories.like_factory(None),
        **{key: _pair(key) for key in (*PAIRS, "add", "sub", "subtract", "pow")},
        diff=factories.diff,
        diag=factories.diagonal,
        qr=factories.orthogonal_triangular,
        unique=factories.unique,
        einsum=lambda machine, equation, *operands: factories.einsum(machine, equation, operands),
        polar=factories.polar,
        is_tensor=lambda machine, value: isinstance(value, Tensor),
        numel=lambda machine, value: METHODS["numel"](machine, value),
        is_floating_point=lambda machine, value: value.dtype.is_floating_point if isinstance(value, Tensor) else False,
        compile=_decorator,
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
        is_inference_mode_enabled=_false,
        is_autocast_enabled=_false,
        are_deterministic_algorithms_enabled=_false,
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
        is_storage=_false,
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


# torch.nn


_PARTS = (
    "activation",
    "linear",
    "conv",
    "batchnorm",
    "normalization",
    "container",
    "module",
    "loss",
    "dropout",
    "rnn",
    "pooling",
    "padding",
    "sparse",
    "transformer",
    "instancenorm",
    "flatten",
    "fold",
    "upsampling",
    "distance",
    "pixelshuffle",
)
"""Modules below torch.nn.modules, all in one."""


def _nn(machine: Machine) -> PythonModule:
    entries: dict[str, Value] = {"Module": module_class(machine)}
    entries.update(layer_classes(machine))
    entries.update(container_classes(machine))
    entries.update(transformer_classes(machine))
    shapes.add_forwards(entries)
    entries["Parameter"] = machine.state["torch.nn.Parameter"]
    entries["Buffer"] = machine.state["torch.nn.Buffer"]
    entries["UninitializedParameter"] = machine.state["torch.nn.UninitializedParameter"]
    entries["DataParallel"] = _wrapper
    entries["factory_kwargs"] = lambda machine, kwargs: {}
    made = module(
        "torch.nn",
        entries,
        lambda name: Unknown(f"torch.nn.{name} is not modelled", data=name[:1] == "_" or name.islower()),
    )
    made.namespace["modules"] = made
    for part in _PARTS:
        made.namespace[part] = made
    return made


def _wrapper(machine: Machine, wrapped: Value, *args: Value, **kwargs: Value) -> Value:
    made = machine.call(module_class(machine), [], {})
    machine.set_attr(made, "module", wrapped)
    return made


def _functional(machine: Machine) -> PythonModule:
    def missing(name: str) -> Value:
        return Builtin(name, _tensor_function(name))

    return module("torch.nn.functional", dict(shapes.functions()), missing)


def _init(machine: Machine) -> PythonModule:
    def same(machine: Machine, tensor: Value = None, *args: Value, **kwargs: Value) -> Value:
        if isinstance(tensor, Tensor):
            tensor.values = None
        return tensor

    def constant(machine: Machine, tensor: Value = None, value: Value = 0, *args: Value, **kwargs: Value) -> Value:
        return same(machine, tensor)

    gains = {
        "linear": 1.0,
        "conv1d": 1.0,
        "conv2d": 1.0,
        "conv3d": 1.0,
        "sigmoid": 1.0,
        "tanh": 5 / 3,
        "relu": math.sqrt(2),
    }
    return module(
        "torch.nn.init",
        {
            "calculate_gain": lambda machine, name, *args: gains.get(name, 1.0) if isinstance(name, str) else 1.0,
            "_calculate_fan_in_and_fan_out": _fans,
            "_calculate_correct_fan": lambda machine, tensor, mode: _fans(machine, tensor)[
                0 if mode == "fan_in" else 1
            ],
            "constant_": constant,
        },
        lambda name: Builtin(name, same),
    )


def _fans(machine: Machine, tensor: Value) -> Value:
    if not isinstance(tensor, Tensor) or tensor.shape is None or len(tensor.shape) < 2:
        unknown = Unknown("the fan of a tensor", data=True)
        return (unknown, unknown)
    field = math.prod(tensor.shape[2:])
    return (tensor.shape[1] * field, tensor.shape[0] * field)


def _nn_utils(machine: Machine) -> PythonModule:
    return module(
        "torch.nn.utils",
        {
            "weight_norm": parametrize.weight_norm,
            "remove_weight_norm": parametrize.remove_weight_norm,
            "spectral_norm": parametrize.spectral_norm,
            "parametrize": machine.import_module("torch.nn.utils.parametrize"),
            "parametrizations": machine.import_module("torch.nn.utils.parametrizations"),
            "skip_init": lambda machine, cls, *args, **kwargs: machine.call(cls, list(args), kwargs),
        },
    )


def _cuda(machine: Machine) -> PythonModule:
    return module(
        "torch.cuda",
        {
            "is_available": _false,
            "is_bf16_supported": _false,
            "device_count": _zero,
            "current_device": _zero,
            "is_initialized": _false,
            "get_device_capability": lambda machine, *args: (0, 0),
            "empty_cache": nothing,
            "amp": machine.import_module("torch.cuda.amp"),
            "is_current_stream_capturing": _false,
        },
    )


def _amp(machine: Machine) -> PythonModule:
    autocast = context_class(machine, "autocast", "torch.cuda.amp")
    return module(
        "torch.amp",
        {
            "autocast": autocast,
            "custom_fwd": _decorator,
            "custom_bwd": _decorator,
            "GradScaler": Unknown("GradScaler", data=True),
        },
    )


def _jit(machine: Machine) -> PythonModule:
    return module(
        "torch.jit",
        {
            **dict.fromkeys(
                (
                    "script",
                    "ignore",
                    "unused",
                    "export",
                    "interface",
                    "script_if_tracing",
                    "_overload_method",
                    "script_method",
                    "trace",
                ),
                _decorator,
            ),
            "is_scripting": _false,
            "is_tracing": _false,
            "isinstance": lambda machine, value, form: False,
            "Final": TypingForm("Final"),
            "ScriptModule": module_class(machine),
            "Attribute": lambda machine, value, form: value,
            "annotate": lambda machine, form, value: value,
        },
    )


def _autograd(machine: Machine) -> PythonModule:
    function = Class(machine, "Function", (), {}, "torch.autograd")
    function.namespace["apply"] = Builtin("apply", lambda machine, *args, **kwargs: unknown_tensor(machine))
    return module(
        "torch.autograd",
        {
            "Function": function,
            "Variable": lambda machine, value, *args, **kwargs: value,
            "function": Unknown("torch.autograd.function", data=True),
        },
    )


def _autograd_function(machine: Machine) -> PythonModule:
    base = machine.import_module("torch.autograd")
    return module(
        "torch.autograd.function",
        {
            "Function": base.namespace["Function"],
            "InplaceFunction": base.namespace["Function"],
            "once_differentiable": _decorator,
        },
    )


def _distributed(machine: Machine) -> PythonModule:
    return module(
        "torch.distributed",
        {
            "is_available": _true,
            "is_initialized": _false,
            "is_torchelastic_launched": _false,
            "get_world_size": lambda machine, *args, **kwargs: 1,
            "get_rank": _zero,
            "ProcessGroup": TypingForm("ProcessGroup"),
        },
    )


def _compiler(machine: Machine) -> PythonModule:
    return module(
        "torch.compiler",
        {
            "disable": _decorator,
            "allow_in_graph": _decorator,
            "is_compiling": _false,
            "is_exporting": _false,
            "is_dynamo_compiling": _false,
            "assume_constant_result": _decorator,
        },
    )


def _library(machine: Machine) -> PythonModule:
    return module(
        "torch.library",
        {
            "custom_op": lambda machine, *args, **kwargs: Builtin(
                "custom_op", lambda machine, function: Unknown("a custom operator", data=True)
            ),
            "register_fake": lambda machine, *args, **kwargs: Builtin(
                "register_fake", lambda machine, function: function
            ),
            "register_autograd": nothing,
            "Library": lambda machine, *args, **kwargs: Unknown("a library", data=True),
            "triton_op": lambda machine, *args, **kwargs: Builtin(
                "triton_op", lambda machine, function: Unknown("a custom operator", data=True)
            ),
            "wrap_triton": _decorator,
        },
    )


def _backends(machine: Machine) -> PythonModule:
    flags = Instance(
        new_class(
            machine,
            "Backend",
            "torch.backends",
            {
                "is_available": _false,
                "is_built": _false,
                "version": _zero,
                "flags": lambda machine, *a, **k: Unknown("a context", data=True),
            },
        )
    )
    return module(
        "torch.backends",
        dict.fromkeys(("mps", "cuda", "cudnn", "mkl", "mkldnn", "openmp", "xnnpack", "opt_einsum", "quantized"), flags),
    )


def _backend(machine: Machine) -> PythonModule:
    return module(
        "torch.backends.cuda",
        {"is_built": _false, "is_available": _false, "flash_sdp_enabled": _false, "sdp_kernel": nothing},
    )


def _accelerator(name: str) -> Any:
    def make(machine: Machine) -> PythonModule:
        return module(
            name,
            {"is_available": _false, "device_count": _zero, "is_initialized": _false, "current_accelerator": nothing},
        )

    return make


def _checkpoint(machine: Machine) -> PythonModule:
    return module(
        "torch.utils.checkpoint",
        {"checkpoint": lambda machine, function, *args, **kwargs: Unknown("a checkpointed call", data=True)},
    )


def _data(machine: Machine) -> PythonModule:
    entries = {
        name: Class(machine, name, (), {}, "torch.utils.data")
        for name in ("Dataset", "IterableDataset", "DataLoader", "Sampler")
    }
    for cls in entries.values():
        cls.namespace["__init__"] = method("__init__", nothing)
        cls.namespace["__class_getitem__"] = ClassMethod(
            Builtin("__class_getitem__", lambda machine, cls, key: cls, binds=True)
        )
    return module("torch.utils.data", entries)


def _overrides(machine: Machine) -> PythonModule:
    return module(
        "torch.overrides",
        {
            "has_torch_function": _false,
            "has_torch_function_unary": _false,
            "has_torch_function_variadic": _false,
            "handle_torch_function": nothing,
        },
    )


def _special(machine: Machine) -> PythonModule:
    return module("torch.special", {}, lambda name: Builtin(name, _tensor_function(name)))


def _linalg(machine: Machine) -> PythonModule:
    entries = {"qr": factories.orthogonal_triangular}
    return module("torch.linalg", entries, lambda name: Builtin(name, _tensor_function(name)))


def _scheduler(machine: Machine) -> PythonModule:
    classes = {"Optimizer": Class(machine, "Optimizer", (), {}, "torch.optim")}
    return module("torch.optim", classes, unknown_data("torch.optim"))


_MAKERS: dict[str, Any] = {
    "torch": _torch,
    "torch.nn": _nn,
    "torch.nn.functional": _functional,
    "torch.nn.init": _init,
    "torch.nn.utils": _nn_utils,
    "torch.cuda": _cuda,
    "torch.cuda.amp": _amp,
    "torch.amp": _amp,
    "torch.jit": _jit,
    "torch.autograd": _autograd,
    "torch.autograd.function": _autograd_function,
    "torch.distributed": _distributed,
    "torch.compiler": _compiler,
    "torch.library": _library,
    "torch.backends": _backends,
    "torch.backends.cuda": _backend,
    "torch.backends.cudnn": _backend,
    "torch.backends.mps": _backend,
    "torch.mps": _accelerator("torch.mps"),
    "torch.xpu": _accelerator("torch.xpu"),
    "torch.npu": _accelerator("torch.npu"),
    "torch.mtia": _accelerator("torch.mtia"),
    "torch.accelerator": _accelerator("torch.accelerator"),
    "torch.utils.checkpoint": _checkpoint,
    "torch.utils.data": _data,
    "torch.overrides": _overrides,
    "torch.special": _special,
    "torch.fft": _special,
    "torch.linalg": _linalg,
    "torch.optim": _scheduler,
}
