"""Tokens of JSON and of what people write instead of it: strings, numbers, words, comments."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from json.decoder import scanstring
from typing import NamedTuple, cast

from neurarch_schemas.documents.document import SyntaxRule
from neurarch_schemas.documents.json_value import JSONValue

Report = Callable[[SyntaxRule, str, int, int], None]

SPACE = re.compile(r"[ \t\n\r]*")
PAIR = re.compile(r'[ \t\n\r]*("([^"\\\x00-\x1f]*)"[ \t\n\r]*:[ \t\n\r]*)')
"""A key without escapes up to its value."""
SCALAR = re.compile(
    r'(?:"([^"\\\x00-\x1f]*)"|(-?(?:0|[1-9][0-9]{0,18}))|(-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)|(true|false|null))'
    r"[ \t\n\r]*(?=[,}\]])"
)
"""A sound scalar which a comma or a closing bracket follows: string, short integer, number, word."""
NEXT = re.compile(r"[ \t\n\r]*([,}\]])")
WORD = re.compile(r"[A-Za-z_$][\w$.\-/]*")
NUMBER = re.compile(r"[-+]?(?:[0-9.](?:[0-9A-Za-z_.]|(?<=[eE])[-+])*|[A-Za-z]+)?")
STRICT_NUMBER = re.compile(r"(-?(?:0|[1-9][0-9]*))((?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)")
JUNK = re.compile(r"""[^\s,:{}\[\]"']+""")
CONFLICT = re.compile(r"(?:<{7}|={7}|>{7}|\|{7})(?: [^\n\r]*)?(?=[\n\r]|\Z)")
STRING_PART = re.compile(r'[^"\\\x00-\x1f]+')

WORDS: dict[str, JSONValue] = {"true": True, "false": False, "null": None}
FOREIGN_WORDS: dict[str, str] = {
    "True": "true", "False": "false", "None": "null", "TRUE": "true", "FALSE": "false", "NULL": "null", "Null": "null",
    "undefined": "null", "nil": "null",
}  # fmt: skip
NONFINITE: dict[str, float] = {
    "NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf, "nan": math.nan, "inf": math.inf, "-inf": -math.inf,
    "Inf": math.inf, "-Inf": -math.inf, "+Infinity": math.inf, "+inf": math.inf, "-NaN": math.nan, "-nan": math.nan,
}  # fmt: skip

MAX_DIGITS = 4300
"""Longer integers are not read: Python refuses to print them (its default limit for conversions)."""

_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


class Scalar(NamedTuple):
    """``readable`` is false where the text has no value that could be told."""

    end: int
    value: JSONValue
    readable: bool = True


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


def strict_decoder() -> json.JSONDecoder:
    """Reads sound JSON at the speed of the standard library and raises on everything that must be reported."""
    return json.JSONDecoder(object_pairs_hook=_unique, parse_float=_finite, parse_constant=_constant)


def read_string(text: str, start: int, report: Report) -> Scalar:
    """The string whose opening quote stands at ``start``; it ends at the end of the line at the latest."""
    quote = text[start]
    if quote == '"':
        try:
            value, end = scanstring(text, start + 1, True)
            return Scalar(end, value)
        except ValueError:
            pass
    parts: list[str] = []
    problems: list[tuple[str, int, int]] = []
    at = start + 1
    while True:
        if (plain := STRING_PART.match(text, at)) is not None:
            piece, stop = plain.group(), plain.end()
            if quote == "'" and "'" in piece:
                stop = at + piece.index("'")
                piece = text[at:stop]
            parts.append(piece)
            at = stop
        character = text[at : at + 1]
        if character == quote:
            at += 1
            break
        if not character or character in "\n\r":
            at = _unclosed(text, start, at, parts)
            problems = [problem for problem in problems if problem[2] <= at]
            problems.append((f"this string is not closed: {quote} is missing", start, at))
            break
        if character == "\\":
            width = _escape(text, at, parts, problems)
            at += width
            continue
        if character < " ":
            name = {"\t": "tab", "\f": "form feed", "\b": "backspace"}.get(character, f"U+{ord(character):04X}")
            spelled = json.dumps(character)[1:-1]
            problems.append((f"a control character ({name}) in a string is written as {spelled} in JSON", at, at + 1))
        parts.append(character)
        at += 1
    if quote == "'":
        report("json-syntax", "JSON strings stand in double quotes", start, at)
    for message, problem_start, problem_end in problems[:20]:
        report("json-syntax", message, problem_start, problem_end)
    return Scalar(at, "".join(parts))


def _escape(text: str, at: int, parts: list[str], problems: list[tuple[str, int, int]]) -> int:
    """Reads the escape at the backslash; gives its width."""
    character = text[at + 1 : at + 2]
    if character in _ESCAPES and character:
        parts.append(_ESCAPES[character])
        return 2
    if character == "u":
        digits = text[at + 2 : at + 6]
        if len(digits) == 4 and all(digit in "0123456789abcdefABCDEF" for digit in digits):
            code = int(digits, 16)
            low = text[at + 6 : at + 12]
            if 0xD800 <= code < 0xDC00 and re.fullmatch(r"\\u[dD][c-fC-F][0-9a-fA-F]{2}", low):
                parts.append(chr(0x10000 + ((code - 0xD800) << 10) + int(low[2:], 16) - 0xDC00))
                return 12
            parts.append(chr(code))
            return 6
        problems.append(("\\u is followed by four hexadecimal digits", at, min(at + 6, len(text))))
        parts.append("\\u")
        return 2
    if not character or character in "\n\r":
        parts.append("\\")
        return 1
    if character == "'":
        parts.append("'")
        problems.append(("\\' is not an escape of JSON: a single quote needs none", at, at + 2))
        return 2
    problems.append((f"\\{character} is not an escape of JSON; a backslash is written as \\\\", at, at + 2))
    parts.append("\\" + character)
    return 2


def _unclosed(text: str, start: int, line_end: int, parts: list[str]) -> int:
    """Where a string that its line does not close was meant to end; shortens ``parts`` accordingly."""
    body = text[start + 1 : line_end]
    meant_key = re.match(r"([\w.\-]+)\s*:\s*(?=[\[{\"'\w\-]|$)", body)
    if meant_key is not None and re.search(r'"[\w.\-]+"?\s*:', body[meant_key.end() :]) is None:
        cut = len(meant_key.group(1))
    else:
        cut = len(body.rstrip(" \t,]}"))
    if cut != len(body):
        parts[:] = [body[:cut]]
    return start + 1 + cut


def read_number(text: str, start: int, report: Report) -> Scalar:
    """The number (or what was meant as one) at ``start``."""
    match = NUMBER.match(text, start)
    end = match.end() if match is not None else start + 1
    spelled = text[start:end]
    if spelled in NONFINITE:
        return _nonfinite(spelled, start, end, report)
    strict = STRICT_NUMBER.fullmatch(spelled)
    if strict is not None:
        if not strict[2]:
            if len(spelled) > MAX_DIGITS:
                report("json-syntax", f"an integer of {len(spelled.lstrip('-')):,} digits is not read", start, end)
                return Scalar(end, None, readable=False)
            return Scalar(end, int(spelled))
        value = float(spelled)
        if math.isinf(value):
            report(
                "json-nonfinite",
                f"{_short(spelled)} is beyond the range of a float and is read as infinity",
                start,
                end,
            )
        return Scalar(end, value)
    value, message = _meant_number(spelled)
    report("json-syntax", message, start, end)
    return Scalar(end, value, readable=value is not None)


def _meant_number(spelled: str) -> tuple[float | None, str]:
    shown = _short(spelled)
    if len(spelled) > MAX_DIGITS:
        return None, f"{shown} is not a number"
    if re.fullmatch(r"-?0[0-9]+", spelled):
        return int(spelled), f"{shown} begins with a zero, which JSON does not allow: write {int(spelled)}"
    if re.fullmatch(r"\+[0-9].*", spelled) and STRICT_NUMBER.fullmatch(spelled[1:]):
        return cast(
            float, json.loads(spelled[1:])
        ), f"{shown} begins with a plus, which JSON does not allow: write {spelled[1:]}"
    if re.fullmatch(r"-?\.[0-9]+(?:[eE][-+]?[0-9]+)?", spelled):
        return float(spelled), f"{shown} needs a digit before the point: write {spelled.replace('.', '0.', 1)}"
    if re.fullmatch(r"-?[0-9]+\.", spelled):
        return float(spelled), f"{shown} needs a digit after the point: write {spelled}0"
    if re.fullmatch(r"-?[0-9]+(?:_[0-9]+)+", spelled):
        plain = spelled.replace("_", "")
        return None, f"{shown} has underscores, which JSON does not allow: write {plain}"
    if re.fullmatch(r"-?[0-9]+(?:\.[0-9]*)?[eE][-+]?", spelled):
        return None, f"{shown} is not finished: the exponent has no digits"
    if spelled in ("-", "+"):
        return None, f"{shown} is not finished: a number is missing"
    if re.fullmatch(r"[-+]?0[xX][0-9a-fA-F]+", spelled):
        return None, f"{shown} is hexadecimal, which JSON does not have: write {int(spelled, 16)}"
    return None, f"{shown} is not a number"


def _nonfinite(spelled: str, start: int, end: int, report: Report) -> Scalar:
    report("json-nonfinite", f"{spelled} is not JSON: strict parsers refuse this file", start, end)
    return Scalar(end, NONFINITE[spelled])


def read_word(text: str, start: int, report: Report) -> Scalar:
    """true, false, null, or another bare word at ``start``."""
    match = WORD.match(text, start)
    end = match.end() if match is not None else start + 1
    word = text[start:end]
    if word in WORDS:
        return Scalar(end, WORDS[word])
    if word in NONFINITE:
        return _nonfinite(word, start, end, report)
    if word in FOREIGN_WORDS:
        meant = FOREIGN_WORDS[word]
        report("json-syntax", f"{word} is not JSON: write {meant}", start, end)
        return Scalar(end, WORDS[meant])
    begun = next((known for known in WORDS if known.startswith(word)), None)
    if begun is not None:
        report("json-syntax", f"{word} is not finished: {begun}?", start, end)
    else:
        report("json-syntax", f"{_short(word)} is not a JSON value: a text stands in double quotes", start, end)
    return Scalar(end, None, readable=False)


def _short(spelled: str) -> str:
    return spelled if len(spelled) <= 40 else spelled[:37] + "..."
