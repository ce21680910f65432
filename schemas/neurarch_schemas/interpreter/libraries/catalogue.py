"""Which modules are ours, and the file that builds each."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING

from neurarch_schemas.interpreter.libraries import stand_in, transformers, transformers_absent
from neurarch_schemas.interpreter.values import PythonModule, Value

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine

TABLES_FILLED = frozenset(("transformers",))
"""Libraries whose tables are filled where they are defined, so that importing more of them adds to no table: of the
1,577 classes of 93 modeling files of transformers 5.24, not one builds anything else when all imports run at once."""
_ROOM = "neurarch_schemas.interpreter.libraries."
_TORCH = "neurarch_schemas.interpreter.torch_nn."

BUILDERS: dict[str, str] = {
    "math": _ROOM + "mathematics",
    "cmath": _ROOM + "mathematics",
    "random": _ROOM + "mathematics",
    "operator": _ROOM + "mathematics",
    "itertools": _ROOM + "iteration",
    "functools": _ROOM + "functional",
    "contextlib": _ROOM + "contexts",
    "contextvars": _ROOM + "contexts",
    "collections": _ROOM + "containers",
    "collections.abc": _ROOM + "containers",
    "heapq": _ROOM + "sorted_lists",
    "bisect": _ROOM + "sorted_lists",
    "copy": _ROOM + "copying",
    "re": _ROOM + "expressions",
    "regex": _ROOM + "expressions",
    "inspect": _ROOM + "inspection",
    "typing": _ROOM + "typing_forms",
    "typing_extensions": _ROOM + "typing_forms",
    "types": _ROOM + "typing_forms",
    "abc": _ROOM + "typing_forms",
    "numbers": _ROOM + "typing_forms",
    "os": _ROOM + "system",
    "os.path": _ROOM + "paths",
    "sys": _ROOM + "system",
    "pathlib": _ROOM + "paths",
    "platform": _ROOM + "system",
    "time": _ROOM + "system",
    "json": _ROOM + "system",
    "warnings": _ROOM + "system",
    "logging": _ROOM + "system",
    "glob": _ROOM + "files",
    "yaml": _ROOM + "files",
    "pkgutil": _ROOM + "system",
    "threading": _ROOM + "system",
    "weakref": _ROOM + "system",
    "string": _ROOM + "system",
    "importlib": _ROOM + "importing",
    "importlib.metadata": _ROOM + "importing",
    "importlib.util": _ROOM + "importing",
    "importlib_metadata": _ROOM + "importing",
    "pkg_resources": _ROOM + "importing",
    "packaging": _ROOM + "importing",
    "packaging.version": _ROOM + "importing",
    "dataclasses": _ROOM + "dataclass",
    "enum": _ROOM + "enumeration",
    "numpy": _ROOM + "numeric",
    "einops": _ROOM + "rearrange",
    "einops.layers": _ROOM + "rearrange",
    "einops.layers.torch": _ROOM + "rearrange",
    "einops.layers.flax": _ROOM + "rearrange",
    "huggingface_hub": _ROOM + "hub",
    "huggingface_hub.dataclasses": _ROOM + "hub",
    "huggingface_hub.utils": _ROOM + "hub",
    "triton": _ROOM + "absent",
    "beartype": _ROOM + "beartype_forms",
    "jaxtyping": _ROOM + "absent",
    "tqdm": _ROOM + "absent",
    "torch": _TORCH + "package",
    **dict.fromkeys(stand_in.TEXTS, _ROOM + "stand_in"),
}
"""Modules below ``torch``, ``numpy`` and ``triton`` are ours too."""

_WHOLE = ("torch", "numpy", "triton", "beartype", "jaxtyping", "tqdm", "huggingface_hub")
STANDARD = sys.stdlib_module_names


DATA_ONLY = frozenset(
    [
        "jinja2",
        "sympy",
        "scipy",
        "matplotlib",
        "PIL",
        "pandas",
        "cv2",
        "sklearn",
        "skimage",
        "tensorboard",
        "wandb",
        "datasets",
        "requests",
        "psutil",
        "h5py",
        "nibabel",
        "pydicom",
        "tokenizers",
        "sentencepiece",
        "tiktoken",
        "regex",
        "numba",
        "networkx",
        "pytest",
        "httpx",
        "fsspec",
        "safetensors",
        "lightning_utilities",
        "rich",
        "click",
        "jsonargparse",
        "tensorflow",
        "jax",
        "flax",
        "onnx",
        "onnxruntime",
        "torchmetrics",
        "librosa",
        "soundfile",
        "av",
        "decord",
        "imageio",
        "seaborn",
        "tabulate",
        "filelock",
        "multiprocess",
        "dill",
        "ray",
        "mlflow",
        "optuna",
        "polars",
        "plotly",
    ]
)
"""Packages that give numbers, texts and tables, never a module; used only where they are installed."""


def provides(machine: Machine, name: str) -> bool:
    top = name.partition(".")[0]
    if top == "transformers":
        absent = machine.sources.find("transformers") is None
        return transformers_absent.provides(name) if absent else transformers.provides(name)
    if top in stand_in.WHERE_ABSENT:
        return False
    return name in BUILDERS or top in _WHOLE or top in STANDARD


_SUBMODULES = frozenset(
    [
        "torch.utils",
        "torch.hub",
        "torch.onnx",
        "torch.quantization",
        "torch.ao",
        "torch.fx",
        "torch.profiler",
        "torch.multiprocessing",
        "torch.distributions",
        "torch.sparse",
        "torch.random",
        "torch.testing",
        "torch.export",
        "torch._dynamo",
        "torch._inductor",
        "torch.func",
        "torch.nn",
        "torch.cuda",
        "torch.amp",
        "torch.jit",
        "torch.autograd",
        "torch.distributed",
        "torch.compiler",
        "torch.library",
        "torch.backends",
        "torch.mps",
        "torch.xpu",
        "torch.mtia",
        "torch.accelerator",
        "torch.overrides",
        "torch.special",
        "torch.fft",
        "torch.linalg",
        "torch.futures",
        "torch.masked",
        "torch.nested",
        "torch.package",
        "torch.return_types",
        "torch.serialization",
        "torch.storage",
        "torch.types",
        "torch.version",
        "torch.optim",
        "torch.nn.functional",
        "torch.nn.init",
        "torch.nn.utils",
        "torch.nn.parallel",
        "torch.nn.attention",
        "torch.nn.parameter",
        "torch.nn.quantized",
        "torch.utils.checkpoint",
        "torch.utils.data",
        "torch.utils.cpp_extension",
        "torch.autograd.function",
        "torch.autograd.functional",
        "torch.optim.lr_scheduler",
        "torch.cuda.amp",
        "torch.nn.utils.rnn",
        "torch.backends.cuda",
        "torch.backends.cudnn",
        "torch.backends.mps",
        "torch.nn.qat",
        "torch.nn.intrinsic",
        "torch._higher_order_ops",
        "numpy.random",
        "numpy.linalg",
        "numpy.fft",
        "numpy.typing",
        "numpy.testing",
        "numpy.lib",
        "numpy.ma",
        "torch.utils.hooks",
        "torch.utils._pytree",
        "torch.distributed.tensor",
        "torch.distributed.fsdp",
        "torch.distributed.nn",
        "torch.distributed._tensor",
    ]
)


def is_submodule(name: str) -> bool:
    """Whether an attribute of one of our packages is a module below it."""
    return name in BUILDERS or name in _SUBMODULES


def build(machine: Machine, name: str) -> Value:
    """The module, or None where it is not ours."""
    place = BUILDERS.get(name)
    top = name.partition(".")[0]
    if top == "transformers":
        if machine.sources.find("transformers") is None:
            return transformers_absent.build(machine, name) if transformers_absent.provides(name) else None
        return transformers.build(machine, name) if transformers.provides(name) else None
    if place is None:
        if top in _WHOLE:
            place = BUILDERS[top]
        elif machine.sources.in_project(top):
            return None  # a repository's own datasets/, say
        elif top in STANDARD or (top in DATA_ONLY and machine.sources.find(top) is not None):
            place = _ROOM + "absent"
        else:
            return None
    elif top in stand_in.WHERE_ABSENT and machine.sources.find(top) is not None:
        return None
    elif top in ("regex", "importlib_metadata") and machine.sources.find(top) is None:
        return None  # yaml and einops are modelled whole, so code that imports them is followed without their source
    made: PythonModule | None = import_module(place).build(machine, name)
    return made
