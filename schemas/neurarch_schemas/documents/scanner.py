"""Tokens of JSON and of what people write instead of it: strings, numbers, words, comments."""

from __future__ import annotations

import json
import math
import re
from typing import NamedTuple, Protocol

from neurarch_schemas.documents.document import SyntaxRule
from neurarch_schemas.documents.json_value import JSONValue
from neurarch_schemas.documents.strict import WORDS, scan_string


class Report(Protocol):
    """Takes a problem.

    ``fix`` is the text that should stand in its place, where that is sure; ``open_ended`` says that text far behind
    decides where it ends.
    """

    def __call__(
        self, rule: SyntaxRule, message: str, start: int, end: int, fix: str | None = None, open_ended: bool = False
    ) -> None: ...


def silent(
    rule: SyntaxRule, message: str, start: int, end: int, fix: str | None = None, open_ended: bool = False
) -> None:
    """Takes a problem and forgets it."""


WORD = re.compile(r"[A-Za-z_$][\w$.\-/]*")
NUMBER = re.compile(r"[-+]?(?:[0-9.](?:[0-9A-Za-z_.]|(?<=[eE])[-+])*|[A-Za-z]+)?")
STRICT_NUMBER = re.compile(r"(-?(?:0|[1-9][0-9]*))((?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)")
JUNK = re.compile(r"""[^\s,:{}\[\]"']+""")
CONFLICT = re.compile(r"(?:<{7}|={7}|>{7}|\|{7})(?: [^\n\r]*)?(?=[\n\r]|\Z)")
CLOSING = re.compile(r"[ \t]*(?:[,}\]\n\r]|\Z)")
"""What follows the quote that closes a value."""
MEANT_KEY = re.compile(r"""([\w.\-]+)[ \t]*:[ \t]*(?=[\[{"'\w\-]|$)""")
CLOSED_STRING = re.compile(r'"[^"\\\x00-\x1f]*+(?:\\[^\x00-\x1f][^"\\\x00-\x1f]*+)*+"')
STRING_PART = re.compile(r'[^"\\\x00-\x1f]+')
SINGLE_PART = re.compile(r"""[^"'\\\x00-\x1f]+""")

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

_LONG_STRING = 10_000
"""Longer text behind a quote is not searched for the place where a string was meant to end."""
_NOT_CLOSED = "this string is not closed"
_CURLY = re.compile(r"[“”„]([^“”\"\n\r]*)[“”\"]")
_TUPLE = re.compile(r"\([^()\n\r]*\)")
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


class Scalar(NamedTuple):
    """``readable`` is false where the text has no value that could be told."""

    end: int
    value: JSONValue
    readable: bool = True


def read_string(text: str, start: int, report: Report) -> Scalar:
    """The string whose opening quote stands at ``start``.

    One that is not closed ends with its line, before the comma or bracket that was not meant to be part of it.
    """
    quote = text[start]
    if quote == '"':
        value, end = _sound_string(text, start)
        if end > start:
            following = text[end : end + 1]
            if not (following.isalnum() or following == "_"):
                return Scalar(end, value)
            # A string that a word follows at once was meant to end earlier: its closing quote is missing.
            cut = _meant_end(text, start, end - 1)
            if cut < end - 1:
                report("json-syntax", f"{_NOT_CLOSED}: {quote} is missing", start, cut)
                return Scalar(cut, text[start + 1 : cut])
            return Scalar(end, value)
    parts: list[str] = []
    problems: list[tuple[str, int, int, str | None]] = []
    at = start + 1
    broken = False
    part = STRING_PART if quote == '"' else SINGLE_PART
    while True:
        plain = part.match(text, at)
        if plain is not None:
            stop = plain.end()
            parts.append(text[at:stop])
            at = stop
        character = text[at : at + 1]
        if character == quote:
            at += 1
            break
        if not character or (character in "\n\r" and not broken and not (broken := _goes_on(text, at, quote))):
            end = _meant_end(text, start, at)
            if end < at:
                parts = [text[start + 1 : end]]
                problems = [problem for problem in problems if problem[2] <= end]
            at = end
            problems.append((f"{_NOT_CLOSED}: {quote} is missing", start, at, None))
            break
        if character == "\\":
            at += _escape(text, at, parts, problems)
            continue
        if character < " ":
            name = {"\n": "line break", "\r": "line break", "\t": "tab"}.get(character, f"U+{ord(character):04X}")
            spelled = json.dumps(character)[1:-1]
            message = f"a control character ({name}) in a string: JSON writes it as {spelled}"
            problems.append((message, at, at + 1, spelled))
        parts.append(character)
        at += 1
    value = "".join(parts)
    if quote == "'":
        fix = json.dumps(value, ensure_ascii=False) if not problems else None
        report("json-syntax", "a JSON string stands in double quotes", start, at, fix)
    for message, problem_start, problem_end, fix in problems[:20]:
        report("json-syntax", message, problem_start, problem_end, fix, message.startswith(_NOT_CLOSED))
    return Scalar(at, value)


def _sound_string(text: str, start: int) -> tuple[str, int]:
    """The string at ``start`` and where it ends; ``start`` itself where it is not sound."""
    # The standard library counts the lines of the whole text for each of its errors: it is given the string alone.
    closed = CLOSED_STRING.match(text, start)
    if closed is None:
        return "", start
    if "\\" not in closed[0]:
        return closed[0][1:-1], closed.end()
    try:
        return scan_string(closed[0], 1, True)[0], closed.end()
    except ValueError:
        return "", start


def read_curly(text: str, start: int, report: Report) -> Scalar | None:
    """A string in typographic quotes, as word processors write them; None where there is none."""
    found = _CURLY.match(text, start)
    if found is None:
        return None
    fix = json.dumps(found[1], ensure_ascii=False) if "\\" not in found[1] else None
    report("json-syntax", "a JSON string stands in straight quotes, not in typographic ones", start, found.end(), fix)
    return Scalar(found.end(), found[1])


def end_of_tuple(text: str, start: int) -> int:
    """Where a Python tuple on one line ends; ``start`` where there is none."""
    found = _TUPLE.match(text, start)
    return start if found is None else found.end()


def _goes_on(text: str, line_end: int, quote: str) -> bool:
    """Whether a string goes on behind the end of the line: the next quote then closes something, it opens nothing."""
    close = text.find(quote, line_end, line_end + 20_000)
    return close >= 0 and CLOSING.match(text, close + 1) is not None


def _meant_end(text: str, start: int, end: int) -> int:
    """Where a string that ``end`` (its line's end, or another string's quote) cuts off was meant to end."""
    if end - start > _LONG_STRING:
        return end
    body = text[start + 1 : end]
    meant_key = MEANT_KEY.match(body)
    if meant_key is not None:
        return start + 1 + len(meant_key[1])
    return start + 1 + len(body.rstrip(" \t,]}"))


def _escape(text: str, at: int, parts: list[str], problems: list[tuple[str, int, int, str | None]]) -> int:
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
        problems.append(("\\u is followed by four hexadecimal digits", at, min(at + 6, len(text)), None))
        parts.append("\\u")
        return 2
    if not character or character in "\n\r":
        parts.append("\\")
        return 1
    if character == "'":
        parts.append("'")
        problems.append(("\\' is not an escape of JSON: a single quote needs none", at, at + 2, "'"))
        return 2
    message = f"\\{character} is not an escape of JSON; a backslash is written as \\\\"
    problems.append((message, at, at + 2, "\\\\" + character))
    parts.append("\\" + character)
    return 2


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
                f"{_short(spelled)} is larger than any float: Python reads it as infinity, strict parsers refuse it",
                start,
                end,
            )
        return Scalar(end, value)
    meant, message, fix = _meant_number(spelled)
    report("json-syntax", message, start, end, fix)
    return Scalar(end, meant, readable=meant is not None)


def _meant_number(spelled: str) -> tuple[float | None, str, str | None]:
    """Value, message and right spelling of what begins as a number and is none."""
    shown = _short(spelled)
    if len(spelled) > 40:
        return None, f"{shown} is not a number", None
    fixed, reason = spelled, "is not a number"
    if spelled[0] == "+":
        fixed, reason = spelled[1:], "begins with a plus, which JSON does not allow"
    elif re.fullmatch(r"-?0[0-9]+", spelled):
        fixed, reason = str(int(spelled)), "begins with a zero, which JSON does not allow"
    elif re.fullmatch(r"-?\.[0-9]+(?:[eE][-+]?[0-9]+)?", spelled):
        fixed, reason = spelled.replace(".", "0.", 1), "needs a digit before the point"
    elif re.fullmatch(r"-?(?:0|[1-9][0-9]*)\.(?:[eE][-+]?[0-9]+)?", spelled):
        fixed, reason = spelled.replace(".", ".0", 1), "needs a digit after the point"
    elif re.fullmatch(r"-?[0-9]+(?:_[0-9]+)+", spelled):
        fixed, reason = spelled.replace("_", ""), "has underscores, which JSON does not allow"
    elif re.fullmatch(r"[-+]?0[xX][0-9a-fA-F]{1,16}", spelled):
        fixed, reason = str(int(spelled, 16)), "is hexadecimal, which JSON does not have"
    elif re.fullmatch(r"-?[0-9]+(?:\.[0-9]*)?[eE][-+]?", spelled):
        return None, f"{shown} is not finished: the exponent has no digits", None
    elif spelled == "-":
        return None, f"{shown} is not finished: a number is missing", None
    strict = STRICT_NUMBER.fullmatch(fixed)
    if strict is None or fixed == spelled:
        return None, f"{shown} is not a number", None
    value: float = float(fixed) if strict[2] else int(fixed)
    return value, f"{shown} {reason}: write {fixed}", fixed


def _nonfinite(spelled: str, start: int, end: int, report: Report) -> Scalar:
    report("json-nonfinite", f"{spelled} is not JSON: strict parsers refuse this file", start, end)
    return Scalar(end, NONFINITE[spelled])


def read_word(text: str, start: int, report: Report) -> Scalar:
    """true, false, null, or another bare word at ``start``."""
    match = WORD.match(text, start)
    end = match.end() if match is not None else start + 1
    word = text[start:end]
    if text[end : end + 1] in ('"', "'") and CLOSING.match(text, end + 1) is not None:
        report("json-syntax", "the opening quote of this string is missing", start, end + 1)
        return Scalar(end + 1, word)
    if word in WORDS:
        return Scalar(end, WORDS[word])
    if word in NONFINITE:
        return _nonfinite(word, start, end, report)
    if word in FOREIGN_WORDS:
        meant = FOREIGN_WORDS[word]
        report("json-syntax", f"{word} is not JSON: write {meant}", start, end, meant)
        return Scalar(end, WORDS[meant])
    begun = next((known for known in WORDS if known.startswith(word)), None)
    if begun is not None:
        report("json-syntax", f"{word} is not finished: {begun}?", start, end)
    else:
        report("json-syntax", f"{_short(word)} is not a JSON value: a text stands in double quotes", start, end)
    return Scalar(end, None, readable=False)


def _short(spelled: str) -> str:
    return spelled if len(spelled) <= 40 else spelled[:37] + "..."
