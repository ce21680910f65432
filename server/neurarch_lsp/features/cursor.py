"""Where a cursor stands in a JSON text that is being typed, read from the tokens before it.

The document's own tree guesses around damage; a cursor usually stands in the damage. So the brackets open before it
are read afresh, from the innermost large container the tree is sure of.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from neurarch_schemas.documents.document import Span
from neurarch_schemas.documents.pointer import join_pointer
from neurarch_schemas.documents.spelling import JSON, Spelling

if TYPE_CHECKING:
    from neurarch_schemas.documents.json_document import JsonDocument

Role = Literal["key", "value", "element", "root", "nothing"]

TOKEN = re.compile(
    r"""(?P<comment>//[^\n\r]*|/\*(?:[^*]|\*(?!/))*(?:\*/)?)
    |(?P<string>"(?:[^"\\\n\r]|\\[^\n\r])*"?)
    |(?P<mark>[{}\[\]:,])
    |(?P<word>[^\s{}\[\]:,"]+)""",
    re.VERBOSE,
)
LARGE = 50_000
"""Texts longer than this are not read from their beginning."""


@dataclass(frozen=True, slots=True)
class Cursor:
    """``pointer`` is that of the object or list around the cursor, ``key`` the key whose value is meant.

    ``span`` is the token that a completion replaces (empty between tokens) and ``typed`` its text up to the cursor,
    without quotes. ``before`` and ``after`` are the significant characters around that token ("" at the ends).
    """

    role: Role
    pointer: str
    key: str | None
    span: Span
    typed: str
    before: str
    after: str
    before_end: int = 0
    """Offset behind that character's token: where a missing comma belongs."""
    index: int = 0
    spelling: Spelling = JSON
    argument: bool = False
    """The keys around are keywords of a call in Python code."""

    @property
    def colon(self) -> str:
        """What stands between key and value."""
        return "=" if self.argument else ":"


@dataclass(slots=True)
class _Frame:
    kind: str
    name: str | int | None
    key: str | None = None
    index: int = 0
    wants: Literal["key", "colon", "value", "comma"] = "key"


def cursor_at(document: JsonDocument, offset: int) -> Cursor:
    """The role of the place at ``offset``; "nothing" inside comments and behind the document's value."""
    text = document.text
    start, frames = _beginning(document, offset)
    last, before, end = None, "", 0
    for match in TOKEN.finditer(text, start):
        if match.start() > offset or (match.start() == offset and match.lastgroup in ("mark", "comment")):
            break
        if match.start() == offset:
            # Right before a value: that value is meant. Right before a key: a new pair is.
            last = match if frames and frames[-1].wants == "value" else None
            break
        touches = offset == match.end() and (match.lastgroup in ("word", "comment") or _is_open(match))
        if offset < match.end() or touches:
            last = match
            break
        if match.lastgroup != "comment":
            before, end = _advance(frames, match, before), match.end()
    return _cursor(text, offset, frames, last, before, end)


def _beginning(document: JsonDocument, offset: int) -> tuple[int, list[_Frame]]:
    """Where to begin reading, with the frames open there."""
    if offset < LARGE:
        return 0, []
    frames: list[_Frame] = []
    pointer, start = "", 0
    while (container := document.container(pointer)) is not None and container.start < offset < container.end:
        name = None if not frames else (frames[-1].key if frames[-1].kind == "{" else frames[-1].index)
        kind = "{" if container.kind == "object" else "["
        frame = _Frame(kind, name, wants="key" if kind == "{" else "value")
        at = max((n for n, begin in enumerate(container.starts) if container.start + begin < offset), default=None)
        start = container.start + 1
        frames.append(frame)
        if at is None:
            break
        member = container.members[at]
        start = container.start + container.starts[at]
        frame.index, frame.key = at, member.key
        if offset - start < LARGE or not isinstance(member.value, dict | list):
            break
        pointer = join_pointer(pointer, at if member.key is None else member.key)
    return start, frames


def _is_open(match: re.Match[str]) -> bool:
    """A string without its closing quote."""
    text = match.group()
    return match.lastgroup == "string" and (len(text) < 2 or not text.endswith('"') or _escaped_end(text))


def _escaped_end(text: str) -> bool:
    return (len(text) - 1 - len(text[:-1].rstrip("\\"))) % 2 == 1


def _advance(frames: list[_Frame], match: re.Match[str], before: str) -> str:
    """Take one token into account; returns the significant character it leaves before the next."""
    text = match.group()
    frame = frames[-1] if frames else None
    if text in ("{", "["):
        name = None if frame is None else (frame.key if frame.kind == "{" else frame.index)
        if frame is not None:
            frame.wants = "comma"
        frames.append(_Frame(text, name, wants="key" if text == "{" else "value"))
    elif text in ("}", "]"):
        if frame is not None:
            frames.pop()
            if not frames:
                frames.append(_Frame("done", None, wants="comma"))
    elif frame is None:
        return text[-1]
    elif text == ",":
        frame.index += 1
        frame.wants = "key" if frame.kind == "{" else "value"
    elif text == ":":
        frame.wants = "value"
    elif frame.kind == "{" and frame.wants in ("key", "comma"):
        frame.key, frame.wants = _unquoted(text), "colon"
    else:
        frame.wants = "comma"
    return text[-1] if match.lastgroup == "mark" else '"' if match.lastgroup == "string" else text[-1] or before


def _cursor(text: str, offset: int, frames: list[_Frame], token: re.Match[str] | None, before: str, end: int) -> Cursor:
    span, typed = (offset, offset), ""
    if token is not None:
        if token.lastgroup == "comment" and not (token.group().endswith("*/") and token.end() == offset):
            return Cursor("nothing", "", None, span, "", before, "")
        span = token.span()
        if _is_open(token):
            # The quote that is not closed yet: what follows on the line is not part of the word.
            span = (token.start(), max(offset, token.start() + _word_length(token.group())))
        typed = text[span[0] : offset].lstrip('"')
    following = TOKEN.search(text, span[1])
    while following is not None and following.lastgroup == "comment":
        following = TOKEN.search(text, following.end())
    after = following.group()[0] if following is not None else ""
    if not frames:
        return Cursor("root", "", None, span, typed, before, after, end)
    frame = frames[-1]
    if frame.kind == "done":
        return Cursor("nothing", "", None, span, typed, before, after, end)
    pointer = join_pointer("", *[item.name for item in frames if item.name is not None])
    if frame.kind == "[":
        return Cursor("element", pointer, _list_key(frames), span, typed, before, after, end, frame.index)
    if frame.wants in ("value",):
        return Cursor("value", pointer, frame.key, span, typed, before, after, end)
    if frame.wants == "colon":
        return Cursor("nothing", pointer, frame.key, span, typed, before, after, end)
    return Cursor("key", pointer, None, span, typed, before, after, end)


def _word_length(text: str) -> int:
    """Length of an unclosed quote and the word behind it."""
    match = re.match(r'"[\w.+/ -]*', text)
    return len(match.group().rstrip()) if match else 1


def _list_key(frames: list[_Frame]) -> str | None:
    """The key of the list the cursor is in (of the outermost, for lists of lists)."""
    return next((item.name for item in reversed(frames) if isinstance(item.name, str)), None)


def _unquoted(text: str) -> str:
    try:
        value = json.loads(text)
    except ValueError:
        return text.strip('"')
    return value if isinstance(value, str) else text
