"""Where a cursor stands in a config that Python code constructs, read from the tokens before it.

As ``cursor.py`` for JSON, which see: the code around a cursor is half typed, so the brackets are read afresh.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from neurarch_lsp.features.cursor import Cursor, Role
from neurarch_schemas.config_calls.damaged import TOKEN
from neurarch_schemas.documents.pointer import join_pointer

if TYPE_CHECKING:
    from neurarch_schemas.config_calls.document import PythonConfigDocument
    from neurarch_schemas.documents.document import Span

Kind = Literal["call", "dict", "list", "other"]
_BEHIND = re.compile(r"(?:\s|#[^\n]*)*")
_WORD = re.compile(r"[\w.]*")
_QUOTES = "\"'"


@dataclass(slots=True)
class _Frame:
    """An open bracket; ``key`` is that of the member the cursor has reached, ``index`` its number.

    ``tokens`` counts what stands in that member behind its key (or, before it is a pair, at all).
    """

    kind: Kind
    name: str | int | None
    key: str | None = None
    index: int = 0
    has_value: bool = False
    tokens: int = 0
    word: str = ""


def cursor_at(document: PythonConfigDocument, offset: int) -> Cursor:
    """The role of the place at ``offset``; "nothing" outside brackets, in comments and in computed values."""
    text = document.text
    start, end = document.value_span("") or (0, 0)
    frames: list[_Frame] = []
    token: re.Match[str] | None = None
    before, before_end, callee = "", start, ""
    for match in TOKEN.finditer(text, start):
        kind, found = match.lastgroup, match.group()
        is_word = kind in ("name", "string", "other", "comment")
        if match.start() > offset or (match.start() == offset and not (is_word and kind != "comment")):
            break
        if offset < match.end() or (offset == match.end() and (kind in ("name", "comment") or _is_number(match))):
            token = match if is_word else None
            break
        if kind == "string" and offset == match.end() and not _is_closed(found):
            token = match
            break
        if kind in ("comment", "line"):
            continue
        _advance(document, frames, match, callee)
        callee = found if kind == "name" else ""
        before, before_end = found[-1], match.end()
    return _cursor(document, offset, frames, token, before, before_end, max(end, offset))


def _advance(document: PythonConfigDocument, frames: list[_Frame], match: re.Match[str], callee: str) -> None:
    found, frame = match.group(), frames[-1] if frames else None
    if match.lastgroup == "open":
        name = None if frame is None else frame.index if frame.kind == "list" else frame.key
        pointer = _pointer([*frames, _Frame("other", name)])
        kind: Kind = "list" if found == "[" else "dict" if found == "{" else "call"
        is_value = frame is None or (frame.has_value if frame.kind in ("call", "dict") else frame.kind == "list")
        if found == "(":
            container = document.container(pointer)
            if not callee or container is None or container.kind != "object":
                kind = "other"
        frames.append(_Frame(kind if is_value else "other", name))
        if frame is not None:
            frame.tokens += 1
    elif match.lastgroup == "close":
        if frame is not None:
            frames.pop()
        if not frames:
            frames.append(_Frame("other", None))
    elif frame is None:
        return
    elif match.lastgroup == "comma":
        frame.index += 1
        frame.key, frame.has_value, frame.tokens, frame.word = None, False, 0, ""
    elif not frame.has_value and found == {"call": "=", "dict": ":"}.get(frame.kind) and frame.tokens == 1:
        frame.key, frame.has_value, frame.tokens = frame.word.strip(_QUOTES), True, 0
    else:
        frame.tokens += 1
        frame.word = found


def _cursor(
    document: PythonConfigDocument,
    offset: int,
    frames: list[_Frame],
    token: re.Match[str] | None,
    before: str,
    before_end: int,
    end: int,
) -> Cursor:
    text = document.text
    span: Span = (offset, offset)
    if token is not None and token.lastgroup == "comment":
        return Cursor("nothing", "", None, span, "", before, "")
    if token is not None:
        span = token.span()
        if token.lastgroup == "string" and not _is_closed(token.group()):
            word = _WORD.match(text, token.start() + 1)
            span = (token.start(), max(offset, token.start() + 1 if word is None else word.end()))
    typed = text[span[0] : offset].lstrip(_QUOTES)
    behind = _BEHIND.match(text, span[1])
    at = span[1] if behind is None else behind.end()
    after = text[at : at + 1] if at < end else ""
    frame = frames[-1] if frames else _Frame("other", None)
    role: Role = "nothing"
    key = frame.key
    if frame.tokens == 0 and frame.kind != "other":
        if frame.kind == "list":
            role, key = "element", next((item.name for item in reversed(frames) if isinstance(item.name, str)), None)
        elif frame.has_value:
            role = "value"
        else:
            role = "key"
    is_first = len(frames) == 1 and frame.kind == "call" and frame.index == 0 and not frame.has_value
    if role == "key" and is_first and text[: document.name_span[1]].endswith("for_model"):
        role, key = "value", "model_type"
    if role == "key" and frame.kind == "call" and (text[span[0] : span[0] + 1] or " ") in _QUOTES:
        role = "nothing"
    return Cursor(
        role, _pointer(frames), key, span, typed, before, after, before_end, frame.index,
        spelling=document.spelling, argument=frame.kind == "call",
    )  # fmt: skip


def _pointer(frames: list[_Frame]) -> str:
    return join_pointer("", *[frame.name for frame in frames if frame.name is not None])


def _is_number(match: re.Match[str]) -> bool:
    return match.lastgroup == "other" and match.group()[0].isdigit()


def _is_closed(text: str) -> bool:
    body = text.lstrip("rbfuRBFU")
    return len(body) > 1 and body[-1] == body[0] and not body.endswith("\\" + body[0])
