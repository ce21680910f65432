"""Objects and lists of a JSON text with the places of their members.

Every place is relative to the node that holds it, so that an edit moves nothing but the members behind it, and a node
that an edit does not touch is shared by the snapshots before and after. Nodes of sound text find their members' places
when these are first asked for.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from neurarch_schemas.documents.document import SyntaxRule
from neurarch_schemas.documents.json_value import JSONValue

NodeKind = Literal["object", "array"]


class RawProblem(NamedTuple):
    """A problem whose places are relative to the node that holds it."""

    rule: SyntaxRule
    message: str
    start: int
    end: int
    member: int | None = None
    """Index of the member whose value it is about; None: the node itself."""
    related: tuple[int, int] | None = None
    structural: bool = False
    """A bracket is missing or too many: where nodes begin and end was guessed from the indentation."""


class Member:
    """A pair of an object or an element of a list.

    ``key`` is None in a list. The key's string stands at the member's start, quotes included; ``value_length`` is -1
    where no value can be read. ``sound`` is false for a pair put together around damage.
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


class Node:
    """An object or a list: ``members[i]`` begins at ``starts[i]``, counted from the node's own start."""

    __slots__ = ("_index", "data", "kind", "length", "members", "problems", "starts")

    def __init__(self, kind: NodeKind, length: int, data: dict[str, JSONValue] | list[JSONValue]) -> None:
        self.kind = kind
        self.length = length
        self.data = data
        self.members: list[Member] | None = None
        self.starts: list[int] = []
        self.problems: tuple[RawProblem, ...] = ()
        self._index: dict[str, int] | None = None

    def index_of(self, key: str) -> int | None:
        """Which member a key of a pointer names; of equal keys the one whose value counts."""
        members = self.members or []
        if self.kind == "array":
            if not key.isdecimal() or not key.isascii() or (key[0] == "0" and len(key) > 1) or len(key) > 18:
                return None
            number = int(key)
            return number if number < len(members) else None
        if self._index is None:
            self._index = {member.key: at for at, member in enumerate(members) if member.key is not None}
            if len(self._index) != len(members):
                self._index = winners(members)
        return self._index.get(key)


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
    data = {member.key: member.value for member in members if member.key is not None}
    if len(data) == len(members) and all(member.value_length >= 0 for member in members):
        return data
    order = winners(members)
    return {key: members[at].value for key, at in order.items() if members[at].value_length >= 0}


def array_data(members: list[Member]) -> list[JSONValue]:
    """The plain value of a list; an element that cannot be read counts as null, so that others keep their places."""
    return [member.value for member in members]
