"""Turn the type annotation of a config field into a JSON Schema fragment.

JSON Schema does not tell 1 from 1.0, the strict classes of transformers do: ``x-fraction`` marks a number declared as
``float`` without ``int``, where a whole number is refused.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import inspect
import math
import types
import typing
from typing import Any

SIMPLE = {int: "integer", bool: "boolean", str: "string", type(None): "null", dict: "object"}
ARRAYS = (list, tuple, set, collections.abc.Sequence)


def schema_of(annotation: Any) -> dict[str, Any]:
    """A JSON Schema accepting what the annotation accepts; ``{}`` accepts everything."""
    if annotation is None:
        return {"type": "null"}
    if annotation is float:
        return {"type": "number", "x-fraction": True}
    if annotation in SIMPLE:
        return {"type": SIMPLE[annotation]}
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        return union([schema_of(argument) for argument in arguments if not is_dtype(argument)])
    if origin is typing.Literal:
        return {"enum": list(arguments)}
    if annotation in ARRAYS:
        return {"type": "array"}
    if origin in ARRAYS:
        return array(arguments)
    if origin is dict:
        values = schema_of(arguments[1]) if len(arguments) == 2 else {}
        return {"type": "object", "additionalProperties": values} if values else {"type": "object"}
    if isinstance(annotation, type) and (typing.is_typeddict(annotation) or hasattr(annotation, "model_type")):
        return {"type": "object"}
    return {}


def bounds(field: dataclasses.Field[Any]) -> dict[str, Any]:
    """The keywords of JSON Schema for the range a field's validators hold its value to."""
    validators = field.metadata.get("validator", ())
    found: dict[str, Any] = {}
    for validator in validators if isinstance(validators, (list, tuple)) else (validators,):
        if validator.__name__ == "positive_int_field":
            found["minimum"] = 1
        elif validator.__qualname__.startswith("interval."):
            limits = inspect.getclosurevars(validator).nonlocals
            for limit, keyword, strict in (
                ("min", "minimum", "exclusiveMinimum"),
                ("max", "maximum", "exclusiveMaximum"),
            ):
                if math.isfinite(limits[limit]):
                    found[strict if limits[f"exclude_{limit}"] else keyword] = limits[limit]
    return found


def is_dtype(annotation: Any) -> bool:
    """torch dtypes are written as strings in JSON."""
    return getattr(annotation, "__name__", "") == "dtype"


def array(arguments: tuple[Any, ...]) -> dict[str, Any]:
    items = union([schema_of(argument) for argument in arguments if argument is not Ellipsis])
    return {"type": "array", "items": items} if items else {"type": "array"}


def union(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """One schema for several: plain types become a list of types, item schemas are merged, the rest is ``anyOf``."""
    if any(not part for part in parts):
        return {}
    values = [value for part in parts for value in part.get("enum", ())]
    plain = [part for part in parts if "enum" not in part]
    if values and all(part == {"type": "null"} for part in plain):
        return {"enum": [*values, *([None] if plain else [])]}
    merged: dict[str, Any] = {"type": []}
    for part in plain:
        if "anyOf" in part:
            return {"anyOf": dedupe(parts)}
        for name in part["type"] if isinstance(part["type"], list) else [part["type"]]:
            if name not in merged["type"]:
                merged["type"].append(name)
        for keyword in ("items", "additionalProperties"):
            if keyword in part and keyword in merged and merged[keyword] != part[keyword]:
                merged[keyword] = union([merged[keyword], part[keyword]])
            elif keyword in part:
                merged[keyword] = part[keyword]
    for kind, keyword in (("array", "items"), ("object", "additionalProperties")):
        if any(kind in part["type"] and keyword not in part for part in plain):
            merged.pop(keyword, None)
    if "number" in merged["type"] and "integer" in merged["type"]:
        merged["type"].remove("integer")
    elif any("x-fraction" in part for part in plain):
        merged["x-fraction"] = True
    if len(merged["type"]) == 1:
        merged["type"] = merged["type"][0]
    if values:
        return {"anyOf": [merged, {"enum": values}]} if merged["type"] else {"enum": values}
    return merged


def dedupe(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [part for index, part in enumerate(parts) if part not in parts[:index]]
