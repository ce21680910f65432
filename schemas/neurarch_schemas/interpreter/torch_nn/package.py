"""The modules of torch: what constructors use of them is modelled, the rest gives tensors or data of unknown value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from neurarch_schemas.interpreter.libraries.library import module, unknown_any, unknown_data
from neurarch_schemas.interpreter.torch_nn import nn_modules, parametrize, submodules, torch_module
from neurarch_schemas.interpreter.torch_nn.tensor_classes import setup
from neurarch_schemas.interpreter.values import (
    PythonModule,
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


_MAKERS: dict[str, Any] = {
    "torch": torch_module.torch,
    "torch.nn": nn_modules.nn,
    "torch.nn.functional": nn_modules.functional,
    "torch.nn.init": nn_modules.init,
    "torch.nn.utils": nn_modules.nn_utils,
    "torch.nn.modules.utils": nn_modules.module_utils,
    "torch.cuda": submodules.cuda,
    "torch.cuda.amp": submodules.amp,
    "torch.amp": submodules.amp,
    "torch.jit": submodules.jit,
    "torch.autograd": submodules.autograd,
    "torch.autograd.function": submodules.autograd_function,
    "torch.distributed": submodules.distributed,
    "torch.distributed.tensor": submodules.distributed_tensor,
    "torch.compiler": submodules.compiler,
    "torch.library": submodules.library,
    "torch.backends": submodules.backends,
    "torch.backends.cuda": submodules.backend,
    "torch.backends.cudnn": submodules.backend,
    "torch.backends.mps": submodules.backend,
    "torch.mps": submodules.accelerator("torch.mps"),
    "torch.xpu": submodules.accelerator("torch.xpu"),
    "torch.npu": submodules.accelerator("torch.npu"),
    "torch.mtia": submodules.accelerator("torch.mtia"),
    "torch.accelerator": submodules.accelerator("torch.accelerator"),
    "torch.utils.checkpoint": submodules.checkpoint,
    "torch.utils.data": submodules.data,
    "torch.overrides": submodules.overrides,
    "torch.special": submodules.special,
    "torch.fft": submodules.special,
    "torch.linalg": submodules.linalg,
    "torch.optim": submodules.scheduler,
}
