"""What is known about a key: its type, default, meaning and where its value comes from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from neurarch_schemas.catalogue import load as catalogue
from neurarch_schemas.documents.pointer import parent_pointer, split_pointer
from neurarch_schemas.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from neurarch_schemas.catalogue.load import ConfigType
    from neurarch_schemas.config.model_config import ModelConfig
    from neurarch_schemas.config.setting import Setting
    from neurarch_schemas.documents.json_value import JSONValue

NO_DEFAULT = object()


class KeyFacts(Record):
    """``owner`` is the config object the key stands in, ``record`` what the catalogue knows of its type."""

    key: str
    name: str
    """Canonical name."""
    owner: ModelConfig
    record: ConfigType | None
    schema: Mapping[str, Any] | None
    """None for a key the type does not have."""
    setting: Setting | None
    """As the model class sees it."""

    @property
    def default(self) -> object:
        """The value when the key is not written, or NO_DEFAULT."""
        if self.record is None:
            return NO_DEFAULT
        if self.name in self.record.resolved:
            return self.record.resolved[self.name]
        return self.record.declared.get(self.name, NO_DEFAULT)


def configs(config: ModelConfig) -> Iterator[ModelConfig]:
    """The config and those nested in it."""
    yield config
    for nested in config.nested.values():
        yield from configs(nested)


def owner_of(config: ModelConfig, pointer: str) -> ModelConfig | None:
    """The config object whose direct key ``pointer`` is."""
    parent = parent_pointer(pointer)
    return next((found for found in configs(config) if found.pointer == parent), None) if pointer else None


def facts(config: ModelConfig, pointer: str) -> KeyFacts | None:
    """None where the pointer does not name a key of a config object."""
    owner = owner_of(config, pointer)
    if owner is None:
        return None
    key = split_pointer(pointer)[-1]
    record = catalogue.config_type(owner.model_type) if owner.is_native else None
    name = owner.synonyms.get(key, key)
    schema = record.properties.get(name) if record else catalogue.base_properties().get(name)
    return KeyFacts(key, name, owner, record, schema, owner.setting(key))


def type_text(schema: Mapping[str, Any]) -> str:
    """A JSON Schema type in words."""
    if "enum" in schema:
        return "one of " + ", ".join(value_text(item, 24) for item in schema["enum"][:12])
    kinds = schema.get("type", ())
    names = [kinds] if isinstance(kinds, str) else list(kinds)
    items = schema.get("items")
    inner = items.get("type") if isinstance(items, Mapping) else None
    words = [
        f"list of {inner}s" if name == "array" and isinstance(inner, str) else {"array": "list"}.get(name, name)
        for name in names
    ]
    return " or ".join(words)


def value_text(value: object, limit: int = 60) -> str:
    """A value as JSON, shortened."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def value_at(data: JSONValue, pointer: str) -> JSONValue:
    """The plain value at a pointer; None where there is none."""
    for key in split_pointer(pointer):
        if isinstance(data, dict):
            data = data.get(key)
        elif isinstance(data, list) and key.isdecimal() and int(key) < len(data):
            data = data[int(key)]
        else:
            return None
    return data
