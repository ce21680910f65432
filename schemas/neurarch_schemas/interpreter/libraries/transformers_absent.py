"""transformers where it is not installed: a stand-in of our own for what remote code leans on.

The stand-in is a Python text (``stand_ins/transformers.txt``), interpreted as any file is. Every module of the
package gives the names of that one text: where a name lives changed between releases.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from neurarch_schemas.interpreter.libraries.library import module
from neurarch_schemas.interpreter.values import Builtin, Class, PythonModule, Unknown, Value

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine

_TEXT = os.path.join(os.path.dirname(__file__), "stand_ins", "transformers.txt")
_NAME = "transformers"
_MODULES = frozenset(
    [
        "activations",
        "cache_utils",
        "configuration_utils",
        "file_utils",
        "generation",
        "generation.configuration_utils",
        "generation.logits_process",
        "generation.stopping_criteria",
        "generation.streamers",
        "generation.utils",
        "integrations",
        "masking_utils",
        "modeling_attn_mask_utils",
        "modeling_flash_attention_utils",
        "modeling_layers",
        "modeling_outputs",
        "modeling_rope_utils",
        "modeling_utils",
        "models",
        "models.auto",
        "processing_utils",
        "pytorch_utils",
        "tokenization_utils",
        "tokenization_utils_base",
        "utils",
        "utils.doc",
        "utils.generic",
        "utils.import_utils",
        "utils.logging",
        "utils.model_parallel_utils",
    ]
)
_DECORATORS = ("add_", "replace_", "auto_", "deprecate_", "can_return", "check_model", "merge_with", "use_kernel")
_FORWARD_ONLY = ("Output", "Cache", "Processor", "ProcessorList", "Criteria", "CriteriaList", "Streamer", "Kwargs")
"""Endings of classes that no constructor of a network uses but to name them."""


def provides(name: str) -> bool:
    top, _, rest = name.partition(".")
    return top == _NAME and (not rest or rest in _MODULES)


def build(machine: Machine, name: str) -> PythonModule:
    """The package, or one of its modules. Asked for where no ``transformers`` is found."""
    if name != _NAME:
        package = machine.import_module(_NAME)
        return module(name, {}, lambda key: _attribute(machine, package, name, key))
    made = machine.new_module(_NAME, _TEXT, True)
    machine.run_module(made)
    made.namespace["neurarch_doubt"] = Builtin("neurarch_doubt", lambda machine, reason: machine.taint(reason))
    made.namespace["__version__"] = "5.0.0"
    config = made.namespace.get("PreTrainedConfig")
    if isinstance(config, Class):
        from neurarch_schemas.interpreter.libraries.transformers import _config_attribute

        getter = Builtin("__getattribute__", _config_attribute, binds=True)
        config.namespace["__getattribute__"] = config.getter = getter
    made.missing = lambda key: _absent(machine, made, _NAME, key)
    return made


def _attribute(machine: Machine, package: Value, name: str, key: str) -> Value:
    """A name of one of the modules."""
    if name == "transformers.utils.logging" and key == "get_logger":
        return package.namespace[key]
    if key in package.namespace and not key.startswith("__"):
        return machine.module_attr(package, key)
    return _absent(machine, package, name, key)


def _absent(machine: Machine, package: PythonModule, name: str, key: str) -> Value:
    if provides(f"{name}.{key}"):
        return machine.import_module(f"{name}.{key}")
    made: Value
    if key.startswith("is_"):
        return Builtin(key, _false)
    if key.startswith(_DECORATORS):
        made = Builtin(key, _decorator)
    elif key.startswith("Auto") and key[4:5].isupper():
        made = Class(machine, key, (package.namespace["_Auto"],), {}, _NAME)
    elif name.endswith("modeling_outputs") or key.endswith("Output") or "OutputWith" in key:
        made = Class(machine, key, (package.namespace["ModelOutput"],), {}, _NAME)
    elif key[:1].isupper() and key.endswith(_FORWARD_ONLY):
        made = Class(machine, key, (), {}, _NAME)
    else:
        return Unknown(f"{key} of transformers is not known here, and the package is not installed", data=_is_data(key))
    package.namespace[key] = made
    return made


def _is_data(key: str) -> bool:
    """A function or a text, never a class of modules."""
    return not key[:1].isupper() or key.isupper()


def _decorator(machine: Machine, function: Value = None, *args: Value, **options: Value) -> Value:
    """A decorator used bare or with arguments, which returns what it decorates."""
    if isinstance(function, Class) or type(function).__name__ == "Function":
        return function
    return Builtin("decorator", lambda machine, function, *args, **options: function)


def _false(machine: Machine, *args: Value, **kwargs: Value) -> bool:
    return False
