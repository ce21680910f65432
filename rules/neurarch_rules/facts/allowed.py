"""What a value may be, as data, and how to say that one is not.

An entry is an object with some of ``type`` (JSON kinds; "float" is written with a decimal point), ``one_of``,
``any_case`` (of words), ``prefixes`` (words may also start so), ``sizes`` (so many positive whole numbers in a list),
``above``, ``at_least``, ``below``, ``at_most``.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from neurarch_rules.facts.places import number, whole_number
from neurarch_rules.facts.spelling import closest
from neurarch_rules.facts.words import either, quoted

if TYPE_CHECKING:
    from neurarch_schemas.documents.json_value import JSONValue

KINDS = {
    "integer": "a whole number",
    "float": "a number with a decimal point",
    "number": "a number",
    "boolean": "true or false",
    "string": "a string",
    "array": "a list",
    "object": "an object",
}
BOUNDS: dict[str, tuple[str, Callable[[float, float], bool]]] = {
    "above": ("above", operator.gt),
    "at_least": ("at least", operator.ge),
    "below": ("below", operator.lt),
    "at_most": ("at most", operator.le),
}


def requirement(value: JSONValue, allowed: Mapping[str, Any]) -> str | None:
    """What the value must be, in words; None where it is that. null counts as not given."""
    if value is None:
        return None
    if isinstance(value, str) and value.startswith(tuple(allowed.get("prefixes", ()))):
        return None
    if allowed.get("any_case") and isinstance(value, str):
        value = value.lower()
    if "one_of" in allowed and not any(_same(value, item) for item in allowed["one_of"]):
        return either([quoted(item) for item in allowed["one_of"] if item is not None])
    if "type" in allowed and not any(_is_kind(kind, value) for kind in allowed["type"]):
        return either([KINDS[kind] for kind in allowed["type"]])
    if "sizes" in allowed and not _are_sizes(value, allowed["sizes"]):
        return f"a list of {allowed['sizes']} positive whole numbers"
    found = number(value)
    bounds = [name for name in BOUNDS if name in allowed]
    if found is not None and not all(BOUNDS[name][1](found, allowed[name]) for name in bounds):
        return " and ".join(f"{BOUNDS[name][0]} {allowed[name]:g}" for name in bounds)
    return None


def guess(value: JSONValue, allowed: Mapping[str, Any]) -> str | None:
    """The word that was probably meant."""
    if not isinstance(value, str):
        return None
    words = [item for item in allowed.get("one_of", ()) if isinstance(item, str)]
    plain = value.strip().removeprefix("torch.")
    folded = {word.lower().replace("_", "-"): word for word in words}
    return folded.get(plain.lower().replace("_", "-")) or closest(plain, words)


def _same(value: JSONValue, item: JSONValue) -> bool:
    return value == item and isinstance(value, bool) == isinstance(item, bool)


def _is_kind(kind: str, value: JSONValue) -> bool:
    match kind:
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "float":
            return isinstance(value, float)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "boolean":
            return isinstance(value, bool)
        case "string":
            return isinstance(value, str)
        case "array":
            return isinstance(value, list)
    return isinstance(value, dict)


def _are_sizes(value: JSONValue, count: int) -> bool:
    """A list, or the old way to write it: "128x128"."""
    if isinstance(value, str) and all(part.isdecimal() and len(part) < 10 for part in value.split("x")):
        value = [int(part) for part in value.split("x")]
    sizes = [whole_number(item) for item in value] if isinstance(value, list) else []
    return len(sizes) == count and all(size is not None and size > 0 for size in sizes)
