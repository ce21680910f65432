"""Sound JSON, read at the speed of the standard library, and the patterns of its tokens."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable
from json import decoder, scanner
from typing import Any, cast

from neurarch_schemas.documents.json_value import JSONValue

Container = dict[str, JSONValue] | list[JSONValue]
Scan = Callable[[str, int], tuple[JSONValue, int]]
"""Reads the value at an offset; gives it and where it ends."""
scan_string = cast(Callable[[str, int, bool], tuple[str, int]], cast(Any, decoder).scanstring)
"""Reads a string from behind its opening quote on; raises ValueError where it is not sound."""

MAX_DEPTH = 100
"""Deeper nesting is reported and not read; no configuration comes near, and whoever walks the values stays safe."""

MANY = 100
"""Objects and lists of one level from which on comparing them is quicker than looking into each."""

SPACE = re.compile(r"[ \t\n\r]*")
PAIR = re.compile(r'[ \t\n\r]*("([^"\\\x00-\x1f]*)"[ \t\n\r]*:[ \t\n\r]*)')
"""A key without escapes up to its value."""
SCALAR = re.compile(
    r'(?:"([^"\\\x00-\x1f]*)"|(-?(?:0|[1-9][0-9]{0,18}))'
    r"|(-?(?:0|[1-9][0-9]{0,18})(?:\.[0-9]{1,30})?(?:[eE][-+]?[0-9]{1,2})?)|(true|false|null))"
    r"[ \t\n\r]*(?=[,}\]])"
)
"""A sound scalar which a comma or a closing bracket follows: string, integer, float, word."""
SOUND_PAIR = re.compile(
    r'[ \t\n\r]*+"([^"\\\x00-\x1f]*+)"[ \t\n\r]*+:[ \t\n\r]*+'
    r'(?:"([^"\\\x00-\x1f]*+)"|(-?(?:0|[1-9][0-9]{0,18}))'
    r"|(-?(?:0|[1-9][0-9]{0,18})(?:\.[0-9]{1,30})?(?:[eE][-+]?[0-9]{1,2})?)|(true|false|null))[ \t\n\r]*+,"
)
"""A key and a sound scalar, neither with escapes, and a comma; the scalar's groups are those of ``SCALAR``, one on."""
NEXT = re.compile(r"[ \t\n\r]*([,}\]])")

WORDS: dict[str, JSONValue] = {"true": True, "false": False, "null": None}


class NotStrict(Exception):
    """The text is not sound JSON, or holds what must be reported."""


def _unique(pairs: list[tuple[str, JSONValue]]) -> dict[str, JSONValue]:
    data = dict(pairs)
    if len(data) != len(pairs):
        raise NotStrict
    return data


def _finite(spelled: str) -> float:
    value = float(spelled)
    if value in (math.inf, -math.inf):
        raise NotStrict
    return value


def _constant(_: str) -> JSONValue:
    raise NotStrict


def strict_scanner() -> Scan:
    """Reads one value of sound JSON at the speed of the standard library; gives it and where it ends.

    Raises StopIteration, ValueError (JSONDecodeError), NotStrict or RecursionError on everything else, and on what is
    sound but must be reported: equal keys, numbers that are not finite.
    """
    context = json.JSONDecoder(object_pairs_hook=_unique, parse_float=_finite, parse_constant=_constant)
    return cast(Scan, cast(Any, scanner).make_scanner(context))


def sound_scanner() -> Scan:
    """As ``strict_scanner`` and half again as fast, since it does not look for equal keys."""
    context = json.JSONDecoder(parse_float=_finite, parse_constant=_constant)
    return cast(Scan, cast(Any, scanner).make_scanner(context))


STRICT_ERRORS = (StopIteration, ValueError, NotStrict, RecursionError)


def quick_value(match: re.Match[str]) -> JSONValue:
    """The value of a match of ``SCALAR``."""
    kind = match.lastindex or 1
    return scalar_value(match[kind], kind)


def scalar_value(spelled: str, kind: int) -> JSONValue:
    """``kind`` is the number of the group of ``SCALAR`` that holds it."""
    if kind == 1:
        return spelled
    if kind == 2:
        return int(spelled)
    return float(spelled) if kind == 3 else WORDS[spelled]


def is_too_deep(text: str, start: int, end: int, value: JSONValue, limit: int) -> bool:
    """Whether a value nests more than ``limit`` levels; ``text[start:end]`` spells it."""
    if text.count("[", start, end) + text.count("{", start, end) <= limit:
        return False
    return pairs_within(value, limit) is None


def pairs_within(value: JSONValue, limit: int) -> int | None:
    """How many pairs the objects of a value have together; None when it nests more than ``limit`` levels."""
    pairs = 0
    level = _containers([value])
    for _ in range(limit + 1):
        if not level:
            return pairs
        pairs += sum([len(item) for item in level if type(item) is dict])
        level = [
            child
            for item in _without_repeats(level)
            for child in (item.values() if type(item) is dict else item)
            if type(child) is dict or type(child) is list
        ]
    return None


def _without_repeats(level: list[Container]) -> list[Container]:
    """What may hold containers: tables of tens of thousands of layers say the same few things of each."""
    while len(level) > MANY:
        sample = level[len(level) // 2]
        if _containers(sample.values() if isinstance(sample, dict) else sample):
            break
        others = [item for item in level if item != sample]
        if 2 * len(others) > len(level):
            break
        level = others
    return level


def _containers(values: Iterable[JSONValue]) -> list[Container]:
    return [value for value in values if isinstance(value, dict | list)]
