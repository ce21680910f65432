"""What a closing bracket, or a key at the beginning of a line, means where brackets are missing or too many.

Files are written with one pair a line, indented alike, so the layout tells which object a line belongs to. Where all
stands on one line, only counting is left: whether closing brackets are missing or too many.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from neurarch_schemas.documents import layout
from neurarch_schemas.documents.frames import Frame
from neurarch_schemas.documents.scanner import read_string, silent

Verdict = Literal["close", "ignore", "wrap"] | Frame
"""A frame: the bracket closes that one, and those inside it lack theirs."""


def open_layout(frame: Frame, text: str, at: int) -> None:
    """Notes how the container that opens at ``at`` is laid out."""
    frame.line_column = layout.line_column(text, at)
    frame.block = layout.ends_line(text, at + 1)


def dedented(frames: Sequence[Frame], column: int) -> Frame | None:
    """The outer object to which a key that begins a line at ``column`` belongs; None: the innermost container."""
    frame = frames[-1]
    if column == frame.key_column:
        return None
    if frame.key_column < 0 and frame.block and column > frame.line_column:
        frame.key_column = column
        return None
    if frame.key_column < 0 or column < frame.key_column:
        outer = _outer(frames, "object", column)
        if outer is not None:
            return outer
    if frame.key_column < 0:
        frame.key_column = column
    return None


def owner_of_pair(frames: Sequence[Frame], text: str, start: int) -> Frame | None:
    """The outer object that a pair met inside a list belongs to."""
    column = layout.own_line_column(text, start)
    if column >= 0 and (outer := _outer(frames, "object", column)) is not None:
        return outer
    return _outer(frames, "object", None) if column < 0 else None


def owner_of_opener(frames: Sequence[Frame], text: str, at: int) -> Frame | None:
    """The outer list of which a bracket that begins a line, met at a key's place, opens an element."""
    column = layout.own_line_column(text, at)
    frame = frames[-1]
    return _outer(frames, "array", column) if 0 <= column < frame.key_column else None


def _outer(frames: Sequence[Frame], kind: str, column: int | None) -> Frame | None:
    for frame in reversed(frames[1:-1]):
        if frame.kind == kind and (column is None or frame.key_column == column):
            return frame
    return None


def is_plausible(text: str, at: int) -> bool:
    """Whether the bracket at ``at`` opens anything, by what follows it."""
    after = layout.skip_trivia(text, at + 1)
    character = text[after : after + 1]
    if character == "":
        return True
    if layout.own_line_column(text, after) > layout.line_column(text, at):
        return True
    if character == "}" and text[at] == "[":
        behind = layout.skip_trivia(text, after + 1)
        if layout.own_line_column(text, behind) > layout.line_column(text, at):
            return True
        return text[behind : behind + 1] not in ("", ",", "}")
    if text[at] == "[":
        return character not in ",:"
    if character == '"':
        end = layout.skip_trivia(text, read_string(text, after, silent).end)
        return text[end : end + 1] in (":", "")
    return character == "}" or layout.BARE_KEY_AHEAD.match(text, after) is not None


def verdict(frames: Sequence[Frame], text: str, at: int, balance: int) -> Verdict:
    """What the closing bracket at ``at`` does; ``balance`` are the opening less the closing brackets of the text."""
    frame = frames[-1]
    kind = "object" if text[at] == "}" else "array"
    following, same_line = layout.next_token(text, at + 1)
    character = text[following : following + 1]
    if character == ":":
        return "ignore"
    can_wrap = bool(frame.candidates) and frame.candidates[-1] < len(frame.members) - 1
    is_separated = text.startswith(",", layout.skip_trivia(text, at + 1))
    if len(frames) == 2 and layout.KEY_AHEAD.match(text, following) is not None:
        return "wrap" if can_wrap else "ignore"
    column = layout.own_line_column(text, at)
    following_column = layout.own_line_column(text, following) if character else -2
    members_go_on = frame.key_column >= 0 and following_column == frame.key_column and character not in "}]"
    closer_follows = frame.block and character in ("}", "]") and following_column == frame.line_column
    if not frame.has_members and following_column > frame.line_column and character not in "}]":
        return "ignore"
    goes_on = bool(character) and same_line and character not in "}]"
    if column >= 0:
        if goes_on and not is_separated:
            return "ignore"
        for owner in reversed(frames[1:]):
            if owner.block and owner.line_column == column:
                return "close" if owner is frame else owner
        return "ignore" if frame.kind != kind or members_go_on or closer_follows or goes_on else "close"
    parent = frames[-2] if len(frames) > 2 else None
    laid_out = parent is not None and parent.kind == "object" and parent.block and parent.key_column >= 0
    if frame.block and frame.key_column >= 0:
        # Its own bracket stands on a line of its own.
        after = layout.skip_trivia(text, layout.closers_end(text, at))
        if layout.own_line_column(text, after) == frame.key_column and text[after : after + 1] not in ("", "}", "]"):
            return "ignore"
        return "ignore" if frame.kind != kind or closer_follows or goes_on else "close"
    if goes_on and (laid_out or (balance < 0 and not is_separated)):
        return "ignore"
    valueless = bool(frame.members) and frame.members[-1].value_length < 0
    if frame.kind == kind and balance < 0 and valueless and bool(character):
        return "ignore"
    if frame.kind == kind:
        return "wrap" if balance < 0 and can_wrap else "close"
    outer = next((owner for owner in reversed(frames[1:-1]) if owner.kind == kind), None)
    if outer is None:
        return "close" if laid_out or balance == 0 else "ignore"
    if laid_out or balance == 0:
        return "close"
    return outer if balance > 0 else "ignore"
