"""transformers is read from its own source. Ours are only the parts that shape nothing and cost much to read:
documentation decorators, kernel and quantization integrations, generation, losses, and the initialisation of weights.

``MODULES`` are modules replaced whole, ``PATCHES`` are methods replaced in a class once its file has run.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from neurarch_schemas.interpreter.libraries.library import module, nothing
from neurarch_schemas.interpreter.values import MISSING, Builtin, Class, ClassMethod, PythonModule, Unknown, Value

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine


def provides(name: str) -> bool:
    return name in MODULES or (name.startswith("transformers.integrations.") and name not in _FROM_SOURCE)


def build(machine: Machine, name: str) -> PythonModule | None:
    """One of our modules; None where transformers is not installed."""
    if machine.sources.find("transformers") is None:
        return None
    maker = MODULES.get(name, _integration)
    return maker(machine, name)


_FROM_SOURCE = (
    "transformers.integrations.bitnet",
    "transformers.integrations.heterogeneity",
    "transformers.integrations.heterogeneity.configuration_utils",
    "transformers.integrations.heterogeneity.configuration",
)


def _decorator(machine: Machine, function: Value = None, *args: Value, **options: Value) -> Value:
    """A decorator used bare or with arguments, which returns what it decorates."""
    if isinstance(function, Class) or type(function).__name__ == "Function":
        return function
    return Builtin("decorator", lambda machine, function, *args, **options: function)


def _config_attribute(machine: Machine, self: Value, name: str) -> Value:
    """``PreTrainedConfig.__getattribute__``: the class's ``attribute_map`` gives names their standard one."""
    name = _standard_name(self, name)
    found = machine.plain_attr(self, name)
    if found is MISSING:
        error = machine.raised("AttributeError", f"'{self.cls.name}' object has no attribute '{name}'")
        error.value.attrs["name"] = name
        raise error
    return found


def _set_config_attribute(machine: Machine, self: Value, name: str, value: Value) -> None:
    """``PreTrainedConfig.__setattr__``."""
    machine.set_plain(self, _standard_name(self, name), value)


def _standard_name(config: Value, name: str) -> str:
    table = config.cls.lookup("attribute_map")
    return str(table[name]) if isinstance(table, dict) and name in table else name


def _documentation(machine: Machine, name: str) -> PythonModule:
    def missing(key: str) -> Value:
        documents = key.startswith(("add_", "replace_", "auto_"))
        return Builtin(key, _decorator) if documents else Unknown(f"{name}.{key}", data=True)

    return module(name, {"copy_func": _copied, "auto_docstring": _decorator}, missing)


def _copied(machine: Machine, function: Value) -> Value:
    return function.function if type(function).__name__ == "BoundMethod" else function


def _false(machine: Machine, *args: Value, **kwargs: Value) -> bool:
    return False


def _integration(machine: Machine, name: str) -> PythonModule:
    def missing(key: str) -> Value:
        if key.startswith("is_"):
            return Builtin(key, _false)
        if key == "use_kernelized_func":
            return Builtin(key, lambda machine, *functions: Builtin("decorator", lambda machine, value: value))
        if key.startswith("use_"):
            return Builtin(key, _decorator)
        dotted = f"{name}.{key}"
        if name == "transformers.integrations" and machine.sources.find(dotted) is not None:
            return machine.import_module(dotted)
        if key.endswith("Mixin"):
            return Class(machine, key, (), {}, name)
        return Unknown(dotted, data=True)

    entries: dict[str, Value] = {"ALLOW_ALL_KERNELS": False}
    if name == "transformers.integrations":
        entries["HeterogeneousConfigMixin"] = MISSING
    found = module(name, {key: value for key, value in entries.items() if value is not MISSING}, missing)
    if name == "transformers.integrations.heterogeneity":
        return found
    return found


def _generation(machine: Machine, name: str) -> PythonModule:
    mixin = machine.state.get("GenerationMixin")
    if mixin is None:
        mixin = machine.state["GenerationMixin"] = Class(
            machine, "GenerationMixin", (), {}, "transformers.generation.utils"
        )
    entries: dict[str, Value] = {
        "GenerationMixin": mixin,
        "ContinuousMixin": Class(machine, "ContinuousMixin", (), {}, name),
    }

    def missing(key: str) -> Value:
        if key in ("GenerationConfig", "BaseWatermarkingConfig", "WatermarkingConfig", "CompileConfig"):
            return machine.module_attr(machine.import_module("transformers.generation.configuration_utils"), key)
        dotted = f"{name}.{key}"
        if machine.sources.find(dotted) is not None:
            return machine.import_module(dotted)
        if key == "GenerationMode":
            return machine.module_attr(machine.import_module("transformers.generation.configuration_utils"), key)
        return Class(machine, key, (), {}, name) if key[:1].isupper() else Unknown(dotted, data=True)

    return module(name, entries, missing)


def _losses(machine: Machine, name: str) -> PythonModule:
    """A model picks its loss by the names of the table; what they stand for is not needed to build one."""
    path, _ = machine.sources.find(name) or (None, False)
    text = machine.sources.text(path) if path is not None else None
    table = (text or "").partition("\nLOSS_MAPPING = {")[2].partition("\n}")[0]
    names = re.findall(r'^ +"(\w+)":', table, re.M)
    return module(name, {"LOSS_MAPPING": {key: Unknown(f"the loss {key}", data=True) for key in names}})


MODULES: dict[str, Callable[[Machine, str], PythonModule]] = {
    "transformers.utils.auto_docstring": _documentation,
    "transformers.utils.doc": _documentation,
    "transformers.generation": _generation,
    "transformers.generation.utils": _generation,
    "transformers.integrations": _integration,
    "transformers.loss.loss_utils": _losses,
}


# methods


def _init_weights(machine: Machine, self: Value, *args: Value, **kwargs: Value) -> None:
    """Weights get no values here, but tied ones become one."""
    machine.call(machine.get_attr(self, "tie_weights"), [], {"recompute_mapping": False})


def _implementation(machine: Machine, self: Value, requested: Value = None, *args: Value, **kwargs: Value) -> Value:
    return "eager" if requested is None else requested


def _generation_config(machine: Machine, cls: Value, config: Value) -> Value:
    return Unknown("the generation config", data=True)


def _auto_mapping(machine: Machine, self: Value, config_mapping: Value, model_mapping: Value) -> None:
    """``_LazyAutoMapping.__init__``: half a hundred tables each turn the one of all configuration classes round."""
    machine.meter.work(len(config_mapping) // 16)
    turned = {config: kind for kind, config in config_mapping.items()}
    for name, value in {
        "_config_mapping": config_mapping,
        "_reverse_config_mapping": turned,
        "_model_mapping": model_mapping,
        "_extra_content": {},
        "_modules": {},
    }.items():
        machine.set_attr(self, name, value)
    machine.set_attr(model_mapping, "_model_mapping", self)


PATCHES: dict[str, dict[str, dict[str, Value]]] = {
    "transformers.models.auto.auto_factory": {"_LazyAutoMapping": {"__init__": _auto_mapping}},
    "transformers.modeling_utils": {
        "PreTrainedModel": {
            "init_weights": _init_weights,
            "initialize_weights": nothing,
            "_initialize_weights": nothing,
            "_init_weights": nothing,
            "smart_apply": nothing,
            "init_parallel_plans": nothing,
            "_check_and_adjust_attn_implementation": _implementation,
            "_check_and_adjust_experts_implementation": _implementation,
            "can_generate": ClassMethod(Builtin("can_generate", lambda machine, cls: False, binds=True)),
            "generation_config": Unknown("the generation config", data=True),
            "gradient_checkpointing_enable": nothing,
            "enable_input_require_grads": nothing,
        }
    },
    # written by every model, read for exporting alone
    "transformers.utils.output_capturing": {"_CanRecordRegistry": {"__setitem__": nothing}},
    "transformers.generation.configuration_utils": {
        "GenerationConfig": {"from_model_config": ClassMethod(Builtin("made", _generation_config, binds=True))}
    },
    "transformers.configuration_utils": {
        "PreTrainedConfig": {"__getattribute__": _config_attribute, "__setattr__": _set_config_attribute}
    },
}
"""Names in a file's classes that are ours."""

_DOCUMENTS = {"transformers.models.auto.configuration_auto": "replace_list_option_in_docstrings"}
"""A file's function that makes decorators which change documentation alone."""


def patch(machine: Machine, loaded: PythonModule) -> None:
    documents = _DOCUMENTS.get(loaded.name)
    if documents in loaded.namespace:
        loaded.namespace[documents] = Builtin(documents, _decorator)
    for class_name, methods in PATCHES.get(loaded.name, {}).items():
        cls = loaded.namespace.get(class_name)
        if isinstance(cls, Class):
            for name, function in methods.items():
                plain: Any = function
                cls.namespace[name] = Builtin(name, plain, binds=True) if type(plain).__name__ == "function" else plain
                if name == "__getattribute__":
                    cls.getter = cls.namespace[name]


_PAIR = r'"([\w.-]+)",\s*\(?\s*"%s"'


def model_module(machine: Machine, package: PythonModule, name: str) -> Value:
    """A name of the package ``transformers`` itself, found by the tables its auto classes have."""
    if package.file is None:
        return MISSING
    auto = os.path.join(os.path.dirname(package.file), "models", "auto")
    for table in ("auto_mappings.py", "configuration_auto.py", "modeling_auto.py"):
        text = machine.sources.text(os.path.join(auto, table))
        found = re.search(_PAIR % re.escape(name), text) if text else None
        if found is None:
            continue
        kind = found.group(1).replace("-", "_")
        for folder in (kind, _special_folder(machine, auto, found.group(1))):
            if folder and machine.sources.find(f"transformers.models.{folder}") is not None:
                value = machine.find_attr(machine.import_module(f"transformers.models.{folder}"), name)
                if value is not MISSING:
                    return value
    return MISSING


def _special_folder(machine: Machine, auto: str, kind: str) -> str | None:
    """Model types whose folder has another name."""
    for table in ("configuration_auto.py", "auto_mappings.py"):
        text = machine.sources.text(os.path.join(auto, table)) or ""
        start = text.find("SPECIAL_MODEL_TYPE_TO_MODULE_NAME")
        found = re.search(rf'"{re.escape(kind)}",\s*"(\w+)"', text[start:]) if start >= 0 else None
        if found is not None:
            return found.group(1)
    return None
