"""From the values of a document to a ModelConfig. Never raises on user input."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Literal

from neurarch_schemas.catalogue.load import ConfigType, config_type, index
from neurarch_schemas.config.draft import Draft
from neurarch_schemas.config.model_config import Conflict, ModelConfig
from neurarch_schemas.config.resolve import escape, foreign_type, resolve
from neurarch_schemas.config.setting import Setting
from neurarch_schemas.documents.json_value import JSONValue

# A derived per-layer list longer than this is kept as a pattern only; real models have a few hundred layers.
LONGEST_LIST = 4096

ConfigKind = Literal["config", "params"]


def read_config(data: JSONValue, kind: ConfigKind = "config") -> ModelConfig:
    """The model a config.json (or a Mistral or Meta params.json, ``kind="params"``) describes.

    ``data`` is the plain value of the document. Anything but an object gives a ModelConfig without settings.
    """
    if not isinstance(data, dict):
        return ModelConfig(model_type="", pointer="", settings={}, is_native=False)
    if kind == "params":
        from neurarch_schemas.config.params import read_params

        return read_params(data)
    name = type_name(data)
    record = config_type(name)
    return finish(resolve(record or foreign_type(name), data, data, ""))


def type_name(data: Mapping[str, JSONValue]) -> str:
    """``model_type``, else the one type whose model class stands in ``architectures``, else ""."""
    model_type = data.get("model_type")
    if isinstance(model_type, str):
        return model_type
    architectures = data.get("architectures")
    if isinstance(architectures, list) and architectures and isinstance(architectures[0], str):
        candidates = index()["classes"].get(architectures[0], ())
        if len(candidates) == 1:
            return str(candidates[0])
    return ""


@cache
def default_settings(name: str) -> Mapping[str, Setting]:
    """One Setting for each declared key of a type, shared by all configs that do not write it."""
    record = config_type(name)
    if record is None:
        return {}
    source = f"default of {record.config_class}"
    return {key: Setting(key, value, "defaulted", None, source) for key, value in record.declared.items()}


def finish(draft: Draft) -> ModelConfig:
    """Give every value its origin."""
    record = draft.type
    defaults = default_settings(record_name(record)) if record.config_class else {}
    settings: dict[str, Setting] = dict(defaults)
    overridden: dict[str, Setting] = {}
    conflicts: list[Conflict] = []
    pointer = draft.pointer
    written: dict[str, str] = {}
    for key in draft.written:
        name = key if key in record.shadowed else record.synonyms.get(key, key)
        if name in written and draft.written[written[name]] != draft.written[key]:
            conflicts.append(Conflict(name, f"{pointer}/{escape(written[name])}", f"{pointer}/{escape(key)}"))
        if name not in written or key not in record.fields:
            written[name] = key
    older = draft.written.get("torch_dtype")
    if older is not None:
        if draft.written.get("dtype") is None:
            written["dtype"] = "torch_dtype"
        elif draft.written["dtype"] != older:
            conflicts.append(Conflict("dtype", f"{pointer}/dtype", f"{pointer}/torch_dtype"))
    values = draft.values
    touched = {*draft.derived, *written}
    # Most keys of most files keep the default of their class.
    others = [
        name
        for name, value in values.items()
        if name in touched or (default := defaults.get(name)) is None or default.value is not value
    ]
    for name in others:
        value = values[name]
        if name in draft.derived:
            pattern = draft.patterns.get(name)
            if pattern is not None:
                value = list(pattern) if pattern.length <= LONGEST_LIST else None
            source = draft.derived[name]
            if name in written:
                key = written[name]
                as_written = draft.written[key]
                setting = Setting(name, as_written, "written", f"{pointer}/{escape(key)}")
                if as_written == value and type(as_written) is type(value):
                    settings[name] = setting
                    continue
                overridden[name] = setting
            settings[name] = Setting(name, value, "derived", None, source)
        elif name in written:
            settings[name] = Setting(name, value, "written", f"{pointer}/{escape(written[name])}")
        else:
            settings[name] = Setting(name, value, "defaulted", None, f"default of {record.config_class}")
    for name in defaults.keys() - values.keys():
        del settings[name]
    for name, key in written.items():
        if name not in settings:
            settings[name] = Setting(name, draft.written[key], "written", f"{pointer}/{escape(key)}")
    architectures = draft.values.get("architectures")
    architecture = architectures[0] if isinstance(architectures, list) and architectures else record.architecture
    return ModelConfig(
        model_type=record.model_type,
        pointer=pointer,
        settings=settings,
        nested={key: finish(nested) for key, nested in draft.nested.items()},
        architecture=architecture if isinstance(architecture, str) else record.architecture or "",
        patterns={**draft.per_layer, **draft.patterns} if draft.per_layer else draft.patterns,
        is_native=bool(record.config_class),
        config_class=record.config_class,
        synonyms=record.synonyms,
        overridden=overridden,
        conflicts=tuple(conflicts),
        is_complete=draft.is_complete,
    )


def record_name(record: ConfigType) -> str:
    """The name of the catalogue file a record was read from."""
    own = config_type(record.model_type)
    return record.model_type if own is record else record.config_class
