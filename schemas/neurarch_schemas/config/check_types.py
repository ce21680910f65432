"""Is every written value of a type and in the range that the config class accepts? The same answer as validating the
catalogue's JSON Schema, without importing a schema library."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import inf
from typing import Any

from neurarch_schemas.catalogue.load import BOUNDS, ConfigType, config_type
from neurarch_schemas.config.resolve import DEEPEST, escape
from neurarch_schemas.documents.json_value import JSONValue
from neurarch_schemas.record import Record


class TypeProblem(Record):
    """A written value the class does not accept; ``pointer`` is that of its key."""

    pointer: str
    message: str
    """Says what is written and what is accepted: ``hidden_size is "4096", expected an integer``."""


def check_types(data: JSONValue) -> tuple[TypeProblem, ...]:
    """Problems of a whole config.json, nested configs included; none for types transformers does not have."""
    from neurarch_schemas.config.read import type_name

    if not isinstance(data, dict):
        return ()
    record = config_type(type_name(data))
    return () if record is None else tuple(check_object(record, data, ""))


def check_object(
    record: ConfigType, data: Mapping[str, JSONValue], pointer: str, depth: int = 0
) -> Iterator[TypeProblem]:
    """Problems of one config object of a known type."""
    for key, value in data.items():
        name = key if key in record.shadowed else record.synonyms.get(key, key)
        schema = record.properties.get(name)
        if schema is None or not record.checks(key):
            continue
        place = f"{pointer}/{escape(key)}"
        if not accepts(schema, value):
            yield TypeProblem(place, f"{key} is {show(value)}, expected {describe(schema)}")
        elif name in record.nested and isinstance(value, dict) and depth < DEEPEST:
            nested = record.nested[name]
            model_type = value.get("model_type") if nested.any_type else None
            below = config_type(model_type if isinstance(model_type, str) else nested.record or nested.model_type)
            if below is not None:
                yield from check_object(below, value, place, depth + 1)


def accepts(schema: Mapping[str, Any], value: JSONValue) -> bool:
    """JSON Schema 2020-12, as far as the catalogue uses it: type, enum, anyOf, items, additionalProperties, bounds.

    As in Python, and not in JSON Schema, 2.0 is no integer; ``x-fraction`` refuses whole numbers.
    """
    if "x-fraction" in schema and type(value) is int:
        return False
    if not BOUNDS.isdisjoint(schema) and not is_within(schema, value):
        return False
    kinds = schema.get("type")
    if kinds is not None and not any(is_kind(kind, value) for kind in ((kinds,) if isinstance(kinds, str) else kinds)):
        return False
    if "enum" in schema and not any(same(value, item) for item in schema["enum"]):
        return False
    if "anyOf" in schema and not any(accepts(part, value) for part in schema["anyOf"]):
        return False
    if isinstance(value, list) and "items" in schema:
        # A list may hold one of a few words for each layer, or a million times.
        items = set(value) if set(map(type, value)) == {str} else value
        return all(accepts(schema["items"], item) for item in items)
    if isinstance(value, dict) and "additionalProperties" in schema:
        return all(accepts(schema["additionalProperties"], item) for item in value.values())
    return True


def is_within(schema: Mapping[str, Any], value: JSONValue) -> bool:
    """Between the bounds of a schema; what is no number is between any."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return True
    return (
        not value < schema.get("minimum", value)
        and not value > schema.get("maximum", value)
        and not value <= schema.get("exclusiveMinimum", -inf)
        and not value >= schema.get("exclusiveMaximum", inf)
    )


def is_kind(kind: str, value: JSONValue) -> bool:
    """An integer counts as a number, and no float as an integer."""
    match kind:
        case "null":
            return value is None
        case "boolean":
            return isinstance(value, bool)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return (isinstance(value, int | float) and not isinstance(value, bool)) or is_special(value)
        case "string":
            return isinstance(value, str)
        case "array":
            return isinstance(value, list)
        case "object":
            return isinstance(value, dict)
    return True


def is_special(value: JSONValue) -> bool:
    """Infinity and NaN as transformers writes them: ``{"__float__": "Infinity"}``."""
    return isinstance(value, dict) and value.keys() == {"__float__"}


def same(value: JSONValue, item: object) -> bool:
    """Equal, with true and 1 told apart."""
    return value == item and isinstance(value, bool) == isinstance(item, bool)


NAMES = {
    "null": "null",
    "boolean": "true or false",
    "integer": "an integer",
    "number": "a number",
    "string": "a string",
    "array": "a list",
    "object": "an object",
}
PLURALS = {
    "integer": "integers",
    "number": "numbers",
    "string": "strings",
    "boolean": "booleans",
    "array": "lists",
    "object": "objects",
}


def describe(schema: Mapping[str, Any]) -> str:
    """What a schema accepts, in words."""
    parts: list[str] = []
    kinds = schema.get("type", ())
    for kind in (kinds,) if isinstance(kinds, str) else kinds:
        if kind == "number" and "x-fraction" in schema:
            parts.append("a number with a decimal point")
            continue
        items = schema.get("items", {}).get("type") if kind == "array" else None
        if items is not None:
            names = [PLURALS[item] for item in ((items,) if isinstance(items, str) else items) if item in PLURALS]
            parts.append(f"a list of {' or '.join(names)}" if names else NAMES[kind])
        else:
            parts.append(NAMES.get(kind, kind))
    if not BOUNDS.isdisjoint(schema):
        parts = [f"{parts[0]} {within(schema)}", *parts[1:]]
    parts.extend(show(item) for item in schema.get("enum", ()))
    parts.extend(describe(part) for part in schema.get("anyOf", ()))
    return " or ".join(dict.fromkeys(parts)) or "another value"


def within(schema: Mapping[str, Any]) -> str:
    """The bounds of a schema in words."""
    if "minimum" in schema and "maximum" in schema:
        return f"from {schema['minimum']:g} to {schema['maximum']:g}"
    words = {
        "minimum": "of at least",
        "maximum": "of at most",
        "exclusiveMinimum": "above",
        "exclusiveMaximum": "below",
    }
    return " and ".join(f"{words[name]} {schema[name]:g}" for name in words if name in schema)


def show(value: object) -> str:
    import json

    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 40 else text[:37] + "..."
