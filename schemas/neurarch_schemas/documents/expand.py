"""The places of the members of sound objects and lists, found when they are first asked for."""

from __future__ import annotations

import re

from neurarch_schemas.documents.json_value import JSONValue
from neurarch_schemas.documents.nodes import Member, Node
from neurarch_schemas.documents.strict import NEXT, PAIR, SCALAR, SPACE, Scan, scan_string, sound_scanner

_FLAT = r'\{[^{}\[\]"]*+(?:"[^"\\]*+"[^{}\[\]"]*+)*+\}'
PLAIN_PAIR = re.compile(rf'[ \t\n\r]*+"([^"\\]*+)"[ \t\n\r]*+:[ \t\n\r]*+("[^"\\]*+"|[-+.\w]++|{_FLAT})[ \t\n\r]*+,')
"""In text known to be sound: a key, and a scalar or an object of scalars, without escapes, and a comma. Most pairs are
such."""


def expand(node: Node, text: str, start: int) -> Node:
    """Finds the members of a node whose text begins at ``start``; their values stay the objects they are."""
    if node.members is None:
        data = node.data
        closing = start + node.length - 1
        members, starts = (
            _pairs(data, text, start, closing) if isinstance(data, dict) else _elements(data, text, start, closing)
        )
        # Another thread may do the same at once: the places first, since members tell that they are there.
        node.starts = starts
        node.members = members
    return node


def _pairs(data: dict[str, JSONValue], text: str, start: int, closing: int) -> tuple[list[Member], list[int]]:
    members: list[Member] = []
    starts: list[int] = []
    scan = sound_scanner()
    at = start + 1
    while len(members) < len(data):
        plain = PLAIN_PAIR.match(text, at)
        if plain is not None:
            key = plain[1]
            key_at, (value_at, end) = plain.start(1) - 1, plain.span(2)
            members.append(Member(key, len(key) + 2, value_at - key_at, end - value_at, data[key]))
            starts.append(key_at - start)
            at = plain.end()
            continue
        at = _space(text, at)
        pair = PAIR.match(text, at)
        if pair is not None:
            key, key_end, value_at = pair[2], at + len(pair[2]) + 2, pair.end()
        else:
            key, key_end = scan_string(text, at + 1, True)
            value_at = _space(text, _space(text, key_end) + 1)
        is_last = len(members) == len(data) - 1
        end = _end_of_last(text, closing) if is_last else _end_of_value(scan, text, value_at)
        members.append(Member(key, key_end - at, value_at - at, end - value_at, data[key]))
        starts.append(at - start)
        at = _behind_comma(text, end)
    return members, starts


def _elements(data: list[JSONValue], text: str, start: int, closing: int) -> tuple[list[Member], list[int]]:
    members: list[Member] = []
    starts: list[int] = []
    scan = sound_scanner()
    at = start + 1
    for value in data:
        at = _space(text, at)
        is_last = len(members) == len(data) - 1
        end = _end_of_last(text, closing) if is_last else _end_of_value(scan, text, at)
        members.append(Member(None, 0, 0, end - at, value))
        starts.append(at - start)
        at = _behind_comma(text, end)
    return members, starts


def _end_of_value(scan: Scan, text: str, at: int) -> int:
    quick = None if text[at] in "{[" else SCALAR.match(text, at)
    if quick is None:
        return scan(text, at)[1]
    return at + len(quick[quick.lastindex or 1]) + (2 if quick.lastindex == 1 else 0)


def _end_of_last(text: str, closing: int) -> int:
    """Where the last value ends: it may be most of the text, and need not be read for that."""
    while text[closing - 1] in " \t\n\r":
        closing -= 1
    return closing


def _behind_comma(text: str, at: int) -> int:
    following = NEXT.match(text, at)
    return at if following is None else following.end()


def _space(text: str, at: int) -> int:
    space = SPACE.match(text, at)
    return at if space is None else space.end()
