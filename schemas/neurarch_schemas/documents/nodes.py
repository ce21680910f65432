"""Objects and lists of a JSON text with the places of their members.

Every place is relative to the node that holds it, so that an edit moves nothing but the members behind it, and a node
that an edit does not touch is shared by the snapshots before and after. Nodes of sound text find their members' places
when these are first asked for.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from neurarch_schemas.documents.document import SyntaxRule
from neurarch_schemas.documents.json_value import JSONValue

NOT_READ = "there is too much damage up to here: the rest of the file is not read"
"""The message where reading a large text was given up."""
MAX_DUPLICATES = 1_000
"""So many equal keys of one object are reported at most."""
NodeKind = Literal["object", "array"]


class RawProblem(NamedTuple):
    """A problem whose places are relative to the node that holds it."""

    rule: SyntaxRule
    message: str
    start: int
    end: int
    key: str | None = None
    """The pair of the node that it is about; None: the node itself."""
    related: tuple[int, int] | None = None
    structural: bool = False
    """A bracket or quote is missing or too many: where things end was told from text that lies further on."""
    fix: tuple[int, int, str] | None = None
    """Range and text of an edit that surely repairs it."""


class Member:
    """A pair of an object or an element of a list.

    ``key`` is None in a list. The key's string stands at the member's start, quotes included; ``value_length`` is -1
    where no value can be read. ``sound`` is false for a pair put together around damage. ``child`` is made when it is
    first asked for.
    """

    __slots__ = ("child", "key", "key_length", "sound", "value", "value_length", "value_start")

    def __init__(
        self,
        key: str | None,
        key_length: int,
        value_start: int,
        value_length: int,
        value: JSONValue,
        child: Node | None = None,
        sound: bool = True,
    ) -> None:
        self.key = key
        self.key_length = key_length
        self.value_start = value_start
        self.value_length = value_length
        self.value = value
        self.child = child
        self.sound = sound

    @property
    def length(self) -> int:
        """Key through value."""
        return self.key_length if self.value_length < 0 else self.value_start + self.value_length

    @property
    def node(self) -> Node | None:
        """The object or list that is this member's value."""
        if self.child is None and isinstance(self.value, dict | list):
            self.child = Node("object" if isinstance(self.value, dict) else "array", self.value_length, self.value)
        return self.child


class Node:
    """An object or a list: ``members[i]`` begins at ``starts[i]``, counted from the node's own start.

    ``members`` is None until ``expand`` has found them. ``opened`` and ``closed`` tell whether the brackets are there.
    """

    __slots__ = (
        "closed", "conflict", "data", "index", "kind", "length", "members", "opened", "problems", "starts", "unread",
    )  # fmt: skip

    def __init__(self, kind: NodeKind, length: int, data: dict[str, JSONValue] | list[JSONValue]) -> None:
        self.kind = kind
        self.length = length
        self.data = data
        self.members: list[Member] | None = None
        self.starts: list[int] = []
        self.problems: tuple[RawProblem, ...] = ()
        self.opened = True
        self.closed = True
        self.conflict = False
        """Git conflict markers stand between the members: keys of both sides are there, and not reported as twice."""
        self.unread = 0
        """Pairs without a readable value."""
        self.index: dict[str, int] | None = None

    def index_of(self, key: str) -> int | None:
        """Which member a key of a pointer names; of equal keys the one whose value counts. Needs ``members``."""
        members = self.members or []
        if self.kind == "array":
            return list_index(key, len(members))
        if self.index is None:
            index = {member.key: at for at, member in enumerate(members) if member.key is not None}
            self.index = index if len(index) == len(members) else winners(members)
        return self.index.get(key)


def list_index(key: str, length: int) -> int | None:
    """The element that a key of a JSON pointer names: digits without leading zeros."""
    if not key.isdecimal() or not key.isascii() or (key[0] == "0" and len(key) > 1) or len(key) > 18:
        return None
    number = int(key)
    return number if number < length else None


def winners(members: list[Member]) -> dict[str, int]:
    """For each key the pair whose value counts: the last one, a sound pair before a damaged one."""
    found: dict[str, int] = {}
    for at, member in enumerate(members):
        if member.key is None:
            continue
        other = found.get(member.key)
        if other is None or _rank(member) >= _rank(members[other]):
            found[member.key] = at
    return found


def _rank(member: Member) -> int:
    return (member.value_length >= 0) + (member.value_length >= 0 and member.sound)


def object_data(members: list[Member]) -> dict[str, JSONValue]:
    """The plain value of an object; keys without a readable value are left out."""
    data = {member.key: member.value for member in members if member.key is not None and member.value_length >= 0}
    if len(data) == len(members):
        return data
    if len({member.key for member in members}) == len(members):
        return data
    order = winners(members)
    return {key: members[order[key]].value for key in data}


def array_data(members: list[Member]) -> list[JSONValue]:
    """The plain value of a list; an element that cannot be read counts as null, so that others keep their places."""
    return [member.value for member in members]


def duplicates(members: list[Member], starts: list[int]) -> list[RawProblem]:
    """The pairs whose key stood in the object before; ``related`` is the occurrence before."""
    found: list[RawProblem] = []
    if len({member.key for member in members}) == len(members):
        return found
    last: dict[str, int] = {}
    for at, member in enumerate(members):
        if member.key is None or member.value_length < 0 or not member.sound:
            continue
        before = last.get(member.key)
        if before is not None:
            message = f'"{member.key}" is written twice in this object: the last one counts'
            related = (starts[before], starts[before] + members[before].key_length)
            span = (starts[at], starts[at] + member.key_length)
            found.append(RawProblem("json-duplicate-key", message, *span, member.key, related))
            if len(found) >= MAX_DUPLICATES:
                break
        last[member.key] = at
    return found
