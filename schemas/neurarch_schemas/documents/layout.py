"""What the layout of a text tells: lines, indentation, and what comes next."""

from __future__ import annotations

import re

KEY_AHEAD = re.compile(r'"(?:[^"\\\n\r]|\\.)*"[ \t\n\r]*:')
"""A string in the place of a key."""
PAIR_AHEAD = re.compile(r'"(?:[^"\\\n\r]|\\.)*"[ \t\n\r]*:[ \t\n\r]*[^,\]} \t\n\r]')
BARE_KEY_AHEAD = re.compile(r"""(?:[A-Za-z_$][\w$.\-]*|'[^'\n\r]*')[ \t]*:""")
_TRIVIA = re.compile(r"(?:[ \t\n\r]+|//[^\n\r]*|#[^\n\r]*|/\*.*?\*/)*", re.DOTALL)
_SCALAR = r'(?:"(?:[^"\\\n\r]|\\.)*"|[-+.\w]+)'
LIST_AHEAD = re.compile(rf"[ \t\n\r]*{_SCALAR}[ \t\n\r]*(?:,[ \t\n\r]*{_SCALAR}[ \t\n\r]*[,\]]|\])")
"""Scalars with commas between them, as only a list has them."""
_BRACKETS = re.compile(r'"(?:[^"\\\n\r]|\\.)*"|[\[\]{}]')


def line_start(text: str, offset: int) -> int:
    """Offset of the first character of the line that holds ``offset``."""
    start = text.rfind("\n", 0, offset) + 1
    return max(start, text.rfind("\r", start, offset) + 1)


def own_line_column(text: str, offset: int) -> int:
    """The length of the indentation before ``offset``; -1 if anything else stands before it on its line."""
    at = offset
    while at > 0 and text[at - 1] in " \t":
        at -= 1
    return offset - at if at == 0 or text[at - 1] in "\n\r\ufeff" else -1


def line_column(text: str, offset: int) -> int:
    """The length of the indentation of the line that holds ``offset``."""
    start = at = line_start(text, offset)
    while at < offset and text[at] in " \t":
        at += 1
    return at - start


def ends_line(text: str, offset: int) -> bool:
    """Nothing but blanks or a comment stands between ``offset`` and the end of its line."""
    at = offset
    while text[at : at + 1] in (" ", "\t"):
        at += 1
    return text[at : at + 1] in ("", "\n", "\r", "#") or text.startswith(("//", "/*"), at)


def skip_trivia(text: str, at: int) -> int:
    found = _TRIVIA.match(text, at)
    return at if found is None else found.end()


def next_token(text: str, at: int) -> tuple[int, bool]:
    """Where the next token begins, one comma left aside, and whether that is on the same line."""
    found = skip_trivia(text, at)
    if text[found : found + 1] == ",":
        found = skip_trivia(text, found + 1)
    return found, "\n" not in text[at:found] and "\r" not in text[at:found]


def bracket_balance(text: str) -> int:
    """Opening less closing brackets, strings left aside."""
    balance = 0
    for token in _BRACKETS.findall(text):
        if token in ("{", "["):
            balance += 1
        elif token in ("}", "]"):
            balance -= 1
    return balance
