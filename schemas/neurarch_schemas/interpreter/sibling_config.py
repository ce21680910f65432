"""The config.json beside a file, where it speaks of a class of that file: what to fill the class's argument with."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from neurarch_schemas.interpreter.budgets import BudgetExceeded
from neurarch_schemas.interpreter.values import MISSING, Class, PythonModule, Raised, UnknownTruth

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine

_FILE = "config.json"
_LOADED = f"json.load(open({_FILE!r}))"


@dataclass(frozen=True, slots=True)
class SiblingConfig:
    """``names`` are the classes of the file that the config names, ``config`` the class of its own values."""

    values: dict[str, object]
    names: frozenset[str]
    config: str | None


def read_sibling(machine: Machine, module: PythonModule) -> SiblingConfig | None:
    """None where there is no such file, or it is no JSON object."""
    if not module.file:
        return None
    text = machine.sources.readable(os.path.join(os.path.dirname(module.file), _FILE))
    if text is None:
        return None
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(values, dict):
        return None
    stem = os.path.basename(module.file).removesuffix(".py")
    names = {name for name in _texts(values.get("architectures")) if isinstance(module.namespace.get(name), Class)}
    references = values.get("auto_map")
    config = None
    if isinstance(references, dict):
        for key, reference in references.items():
            if isinstance(reference, str) and reference.count(".") == 1 and "--" not in reference:
                file, name = reference.split(".")
                if key == "AutoConfig":
                    config = name
                elif file == stem:
                    names.add(name)
    return SiblingConfig(values, frozenset(names), config)


def sibling_argument(
    machine: Machine, module: PythonModule, sibling: SiblingConfig, annotated: str | None, parameter: str
) -> str | None:
    """The statements and the argument, ``import json; ...``, for the one argument a class lacks; None without one.

    Either the config names a class of this file and the argument is the configuration, or the argument is annotated
    with a class whose fields the config gives.
    """
    if sibling.names:
        name = annotated or (_config_class(machine, module, sibling) if parameter in ("config", "cfg") else None)
        cls = _lookup(machine, module, name)
        if name is None or cls is None or cls.lookup("from_dict") is MISSING:
            return None
        return f"{name}.from_dict({_LOADED})" if _works(machine, cls, sibling, "from_dict") else None
    cls = _lookup(machine, module, annotated)
    if annotated is None or cls is None or cls.native is not None or not sibling.values:
        return None
    if cls.lookup("from_dict") is not MISSING or not _has_fields(cls, sibling.values):
        return None
    return f"{annotated}(**{_LOADED})" if _works(machine, cls, sibling, None) else None


def _texts(value: object) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def _config_class(machine: Machine, module: PythonModule, sibling: SiblingConfig) -> str | None:
    """The configuration class by the name it has in the file: the one the config names, else that of its model."""
    if sibling.config is not None and _lookup(machine, module, sibling.config) is not None:
        return sibling.config
    for name in sorted(sibling.names):
        model = module.namespace.get(name)
        config = model.lookup("config_class") if isinstance(model, Class) else MISSING
        if isinstance(config, Class) and _lookup(machine, module, config.name) is config:
            return config.name
    return None


def _lookup(machine: Machine, module: PythonModule, name: str | None) -> Class | None:
    if name is None or not name.isidentifier():
        return None
    try:
        found = machine.load_global(module, name)
    except (Raised, UnknownTruth, BudgetExceeded):
        return None
    return found if isinstance(found, Class) else None


def _has_fields(cls: Class, values: dict[str, object]) -> bool:
    fields = {name for each in cls.mro for name in (each.namespace.get("__annotations__") or ())}
    return bool(fields) and set(values) <= fields


def _works(machine: Machine, cls: Class, sibling: SiblingConfig, method: str | None) -> bool:
    try:
        if method is None:
            machine.call(cls, [], dict(sibling.values))
        else:
            machine.call(machine.get_attr(cls, method), [dict(sibling.values)], {})
    except (Raised, UnknownTruth, BudgetExceeded):
        return False
    return True
