"""What the layout of a text tells: lines, indentation, and what comes next."""

from __future__ import annotations

import re

LONG = 4_000
"""So many code points are looked at, at most, to tell what a token means: whatever a text holds, reading is linear."""
_KEY = r'"(?:[^"\\\n\r]|\\.){0,1000}+"[ \t\n\r]{0,4000}+'
KEY_AHEAD = re.compile(f"{_KEY}:")
"""A string in the place of a key."""
PAIR_AHEAD = re.compile(_KEY + r":[ \t\n\r]{0,4000}+[^,\]} \t\n\r]")
BARE_KEY_AHEAD = re.compile(r"""(?:[A-Za-z_$][\w$.\-]{0,1000}+|'[^'\n\r]{0,1000}+')[ \t]{0,4000}+:""")
TRIVIA = re.compile(r"(?:[ \t\n\r]+|//[^\n\r]*|#[^\n\r]*|/\*.{0,4000}?\*/)*+", re.DOTALL)
_CLOSERS = re.compile(r"[}\], \t]*+")
_BLANKS = re.compile(r"[ \t]*+")
_SCALAR = r'(?:"(?:[^"\\\n\r]|\\.){0,1000}+"|[-+.\w]{1,1000}+)'
_GAP = r"[ \t\n\r]{0,4000}+"
LIST_AHEAD = re.compile(rf"{_GAP}{_SCALAR}{_GAP}(?:,{_GAP}{_SCALAR}{_GAP}[,\]]|\])")
"""Scalars with commas between them, as only a list has them."""
_STRINGS = re.compile(r'(?<!\\)"[^"\\\n\r]*+(?:\\.[^"\\\n\r]*+)*+"')
_HOLDERS = re.compile(r"""["'/#(“”„]""")
"""What strings in other quotes, comments and tuples begin with."""


def line_start(text: str, offset: int) -> int:
    """Offset of the first character of the line that holds ``offset``; of one ``LONG`` before it on a longer line."""
    begin = max(offset - LONG, 0)
    start = max(text.rfind("\n", begin, offset) + 1, begin)
    return max(start, text.rfind("\r", start, offset) + 1)


def own_line_column(text: str, offset: int) -> int:
    """The length of the indentation before ``offset``; -1 if anything else stands before it on its line."""
    if offset > 0 and text[offset - 1] not in " \t\n\r\ufeff":
        return -1
    begin = max(offset - LONG, 0)
    at = begin + len(text[begin:offset].rstrip(" \t"))
    return offset - at if at == 0 or text[at - 1] in "\n\r\ufeff" else -1


def line_column(text: str, offset: int) -> int:
    """The length of the indentation of the line that holds ``offset``."""
    start = line_start(text, offset)
    if start > 0 and text[start - 1] not in "\n\r":
        return 0
    found = _BLANKS.match(text, start, offset)
    return 0 if found is None else found.end() - start


def ends_line(text: str, offset: int) -> bool:
    """Nothing but blanks or a comment stands between ``offset`` and the end of its line."""
    found = _BLANKS.match(text, offset)
    at = offset if found is None else found.end()
    return text[at : at + 1] in ("", "\n", "\r", "#") or text.startswith(("//", "/*"), at)


def skip_trivia(text: str, at: int) -> int:
    found = TRIVIA.match(text, at)
    return at if found is None else found.end()


def next_token(text: str, at: int) -> tuple[int, bool]:
    """Where the next token begins, one comma left aside, and whether that is on the same line."""
    found = skip_trivia(text, at)
    if text[found : found + 1] == ",":
        found = skip_trivia(text, found + 1)
    return found, "\n" not in text[at:found] and "\r" not in text[at:found]


def closers_end(text: str, at: int) -> int:
    """The end of the closing brackets and commas that stand together from ``at`` on, on one line."""
    found = _CLOSERS.match(text, at)
    return at if found is None else found.end()


def bracket_balance(text: str) -> int:
    """Opening less closing brackets, strings left aside."""
    return _balance(_without_strings(text))


def sure_balance(text: str) -> int:
    """As ``bracket_balance``; 0 where something besides strings is there that could hold brackets."""
    bare = _without_strings(text)
    return _balance(bare) if _HOLDERS.search(bare) is None else 0


def _without_strings(text: str) -> str:
    parts = text.split('"')
    if len(parts) % 2 and "\\" not in text:
        # Every other part is a string, if none goes over the end of a line: four times faster than the pattern.
        strings = "".join(parts[1::2])
        if "\n" not in strings and "\r" not in strings:
            return "".join(parts[::2])
    return _STRINGS.sub("", text)


def _balance(bare: str) -> int:
    return bare.count("{") + bare.count("[") - bare.count("}") - bare.count("]")
