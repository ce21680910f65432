"""``--print-schema``: the JSON Schema of one model type, for people who use another JSON server."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Mapping
from typing import Any

from neurarch_schemas.catalogue import load as catalogue
from neurarch_schemas.catalogue.meanings import meaning


def run(arguments: Namespace) -> int:
    """Print the schema; 2 when transformers has no such type."""
    built = schema(arguments.print_schema)
    if built is None:
        print(f"neurarch-lsp: transformers has no model type {arguments.print_schema!r}", file=sys.stderr)
        return 2
    json.dump(built, sys.stdout, indent=2, ensure_ascii=False)
    sys.stdout.write("\n")
    return 0


def schema(model_type: str) -> dict[str, Any] | None:
    """One self-contained JSON Schema 2020-12; unknown keys are allowed, as transformers allows them."""
    record = catalogue.config_type(model_type)
    if record is None:
        return None
    definitions: dict[str, Any] = {}
    built = _object(record, definitions, (model_type,))
    built["properties"]["model_type"] = {"const": record.model_type}
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": record.config_class,
        "description": f"config.json of a {record.model_type} model",
    }
    return {**head, **built, **({"$defs": definitions} if definitions else {})}


def _object(record: catalogue.ConfigType, definitions: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    for name, entry in record.properties.items():
        properties[name] = _property(name, entry)
        nested = record.nested.get(name)
        inner = catalogue.config_type(nested.record or nested.model_type) if nested is not None else None
        if nested is not None and inner is not None and not nested.any_type:
            key = nested.record or nested.model_type
            if key not in definitions and key not in path:
                definitions[key] = {}
                definitions[key] = _object(inner, definitions, (*path, key))
            if key in definitions:
                properties[name] = {"anyOf": [{"$ref": f"#/$defs/{key}"}, {"type": "null"}]}
    for name, target in record.synonyms.items():
        properties.setdefault(name, {"description": f"another name of {target}", **_type(properties.get(target, {}))})
    return {"type": "object", "properties": properties}


def _property(name: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    """Standard keywords only, with the meaning as description."""
    built = {key: value for key, value in entry.items() if not key.startswith("x-")}
    described = meaning(name)
    return {**built, "description": described} if described else built


def _type(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {key: entry[key] for key in ("type", "items", "enum", "$ref", "anyOf") if key in entry}
