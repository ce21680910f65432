"""Configs of a document and places of their settings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from neurarch_rules.engine.finding import Place, Related
from neurarch_schemas.documents.pointer import join_pointer
from neurarch_schemas.record import replace

if TYPE_CHECKING:
    from neurarch_rules.engine.context import Context
    from neurarch_schemas.analysis import Analysis
    from neurarch_schemas.config.model_config import ModelConfig
    from neurarch_schemas.config.setting import Setting
    from neurarch_schemas.documents.json_value import JSONValue

On = Literal["key", "value", "pair"]


def configs(context: Context) -> tuple[ModelConfig, ...]:
    """The document's config and the nested ones that stand in it as objects, outer first.

    Inside a model of foreign code nothing counts as native: that code reads its nested objects itself.
    """
    return context.once("configs", lambda: tuple(_configs(context.analysis)))


def _configs(analysis: Analysis) -> Iterator[ModelConfig]:
    if analysis.config is not None:
        is_foreign = not analysis.config.is_native
        for config in _written(analysis.config, analysis.document.data):
            yield replace(config, is_native=False) if is_foreign and config.is_native else config


def _written(config: ModelConfig, data: JSONValue) -> Iterator[ModelConfig]:
    yield config
    for key, nested in config.nested.items():
        inner = _inside(data, nested.pointer[len(config.pointer) :])
        if isinstance(inner, dict) and nested.pointer != config.pointer:
            yield from _written(nested if nested.model_type else _named(config, key, nested), inner)


def _named(parent: ModelConfig, key: str, nested: ModelConfig) -> ModelConfig:
    """A nested class without a model type of its own, under the name the catalogue keeps it by."""
    from neurarch_schemas.catalogue.load import config_type

    record = config_type(parent.model_type) if parent.is_native else None
    found = None if record is None else record.nested.get(key)
    return nested if found is None or not found.record else replace(nested, model_type=found.record)


def _inside(data: JSONValue, pointer: str) -> JSONValue:
    for key in pointer.split("/")[1:]:
        if not isinstance(data, dict):
            return None
        data = data.get(key.replace("~1", "/").replace("~0", "~"))
    return data


def written(analysis: Analysis, config: ModelConfig) -> dict[str, JSONValue]:
    """The object of a config as it stands in the document."""
    data = analysis.document.data
    found = _inside(data, config.pointer) if config.pointer else data
    return found if isinstance(found, dict) else {}


def pointer(config: ModelConfig, name: str, *more: str | int) -> str:
    """Where a setting is written, or would be; ``more`` are keys inside its value."""
    setting = as_written(config, name)
    base = (
        setting.pointer if setting is not None and setting.pointer is not None else join_pointer(config.pointer, name)
    )
    return join_pointer(base, *more) if more else base


def place(config: ModelConfig, name: str, *more: str | int, on: On = "value") -> Place:
    return Place(pointer(config, name, *more), on=on)


def as_written(config: ModelConfig, name: str) -> Setting | None:
    """The setting, or what the document says where the config class replaces that value."""
    replaced = config.overridden
    return (replaced and replaced.get(config.synonyms.get(name, name))) or config.setting(name)


def is_written(config: ModelConfig, name: str) -> bool:
    setting = as_written(config, name)
    return setting is not None and setting.origin == "written"


def related(config: ModelConfig, name: str, message: str | None = None) -> Related:
    """The other side of a contradiction; the message says the value and whether it is a default."""
    return Related(place(config, name), message or describe(config, name))


def describe(config: ModelConfig, name: str) -> str:
    from neurarch_rules.facts.words import quoted

    setting = config.setting(name)
    if setting is None:
        return f"{name} is not given"
    if setting.origin == "written":
        return f"{setting.name if setting.pointer is None else shown_name(setting.pointer)} is {quoted(setting.value)}"
    return f"{name} is {quoted(setting.value)} by {'default' if setting.origin == 'defaulted' else 'derivation'}"


def shown_name(pointer: str) -> str:
    """The last key of a pointer, for messages."""
    return pointer.rpartition("/")[2].replace("~1", "/").replace("~0", "~")


def whole_number(value: object) -> int | None:
    """An int that is not a bool, or a float without a fraction; None otherwise."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    return int(value) if isinstance(value, float) and value.is_integer() else None


def integer(config: ModelConfig, *names: str) -> int | None:
    """The first of several settings that holds a whole number."""
    known = config.whole_numbers
    for name in names:
        if name in known:
            return known[name]
    return None


def number(value: object) -> float | None:
    """None also for an integer that no float can hold."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def json_kind(value: object) -> str:
    """What JSON Schema calls the type of a value; whole numbers are "number" too."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"
