"""The modules of torch beside ``torch.nn``: devices, compilers, distribution, and what else is asked while building."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from neurarch_schemas.interpreter.libraries.library import method, module, new_class, nothing, unknown_data
from neurarch_schemas.interpreter.torch_nn.answers import context_class, decorator, false, true, zero
from neurarch_schemas.interpreter.torch_nn.base import module_class
from neurarch_schemas.interpreter.torch_nn.decompositions import LINALG
from neurarch_schemas.interpreter.torch_nn.tensor import unknown_tensor
from neurarch_schemas.interpreter.torch_nn.torch_module import tensor_function
from neurarch_schemas.interpreter.values import (
    Builtin,
    Class,
    ClassMethod,
    Instance,
    PythonModule,
    TypingForm,
    Unknown,
)

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine


def cuda(machine: Machine) -> PythonModule:
    return module(
        "torch.cuda",
        {
            "is_available": false,
            "is_bf16_supported": false,
            "device_count": zero,
            "current_device": zero,
            "is_initialized": false,
            "get_device_capability": lambda machine, *args: (0, 0),
            "empty_cache": nothing,
            "amp": machine.import_module("torch.cuda.amp"),
            "is_current_stream_capturing": false,
        },
    )


def amp(machine: Machine) -> PythonModule:
    autocast = context_class(machine, "autocast", "torch.cuda.amp")
    return module(
        "torch.amp",
        {
            "autocast": autocast,
            "custom_fwd": decorator,
            "custom_bwd": decorator,
            "GradScaler": Unknown("GradScaler", data=True),
        },
    )


def jit(machine: Machine) -> PythonModule:
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
                decorator,
            ),
            "is_scripting": false,
            "is_tracing": false,
            "isinstance": lambda machine, value, form: False,
            "Final": TypingForm("Final"),
            "ScriptModule": module_class(machine),
            "Attribute": lambda machine, value, form: value,
            "annotate": lambda machine, form, value: value,
        },
    )


def autograd(machine: Machine) -> PythonModule:
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


def autograd_function(machine: Machine) -> PythonModule:
    base = machine.import_module("torch.autograd")
    return module(
        "torch.autograd.function",
        {
            "Function": base.namespace["Function"],
            "InplaceFunction": base.namespace["Function"],
            "once_differentiable": decorator,
        },
    )


def distributed(machine: Machine) -> PythonModule:
    return module(
        "torch.distributed",
        {
            "is_available": true,
            "is_initialized": false,
            "is_torchelastic_launched": false,
            "get_world_size": lambda machine, *args, **kwargs: 1,
            "get_rank": zero,
            "ProcessGroup": TypingForm("ProcessGroup"),
        },
    )


def distributed_tensor(machine: Machine) -> PythonModule:
    """Constructors ask whether a tensor is spread over devices; none is."""
    name = "torch.distributed.tensor"
    return module(name, {"DTensor": Class(machine, "DTensor", (), {}, name)}, unknown_data(name))


def compiler(machine: Machine) -> PythonModule:
    return module(
        "torch.compiler",
        {
            "disable": decorator,
            "allow_in_graph": decorator,
            "is_compiling": false,
            "is_exporting": false,
            "is_dynamo_compiling": false,
            "assume_constant_result": decorator,
        },
    )


def library(machine: Machine) -> PythonModule:
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
            "wrap_triton": decorator,
        },
    )


_KERNELS = ("flash", "mem_efficient", "math", "cudnn")
"""Kernels of scaled_dot_product_attention that ``torch.backends.cuda`` switches."""


def backends(machine: Machine) -> PythonModule:
    flags = Instance(
        new_class(
            machine,
            "Backend",
            "torch.backends",
            {
                "is_available": false,
                "is_built": false,
                "version": zero,
                "flags": lambda machine, *a, **k: Unknown("a context", data=True),
                **{f"enable_{kind}_sdp": nothing for kind in _KERNELS},
                **{f"{kind}_sdp_enabled": true for kind in _KERNELS},
            },
        )
    )
    return module(
        "torch.backends",
        dict.fromkeys(("mps", "cuda", "cudnn", "mkl", "mkldnn", "openmp", "xnnpack", "opt_einsum", "quantized"), flags),
    )


def backend(machine: Machine) -> PythonModule:
    return module(
        "torch.backends.cuda",
        {"is_built": false, "is_available": false, "flash_sdp_enabled": false, "sdp_kernel": nothing},
    )


def accelerator(name: str) -> Any:
    def make(machine: Machine) -> PythonModule:
        return module(
            name,
            {"is_available": false, "device_count": zero, "is_initialized": false, "current_accelerator": nothing},
        )

    return make


def checkpoint(machine: Machine) -> PythonModule:
    return module(
        "torch.utils.checkpoint",
        {"checkpoint": lambda machine, function, *args, **kwargs: Unknown("a checkpointed call", data=True)},
    )


def data(machine: Machine) -> PythonModule:
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


def overrides(machine: Machine) -> PythonModule:
    return module(
        "torch.overrides",
        {
            "has_torch_function": false,
            "has_torch_function_unary": false,
            "has_torch_function_variadic": false,
            "handle_torch_function": nothing,
        },
    )


def special(machine: Machine) -> PythonModule:
    return module("torch.special", {}, lambda name: Builtin(name, tensor_function(name)))


def linalg(machine: Machine) -> PythonModule:
    return module("torch.linalg", LINALG, lambda name: Builtin(name, tensor_function(name)))


def scheduler(machine: Machine) -> PythonModule:
    classes = {"Optimizer": Class(machine, "Optimizer", (), {}, "torch.optim")}
    return module("torch.optim", classes, unknown_data("torch.optim"))
