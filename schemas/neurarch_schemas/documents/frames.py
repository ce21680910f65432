"""Containers while they are being read."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Sequence

from neurarch_schemas.documents.nodes import Member, Node, NodeKind, RawProblem, array_data, duplicates, object_data


class Resume:
    """Reading begins in the middle of a container, and ends where it meets a member whose reading is known.

    ``starts`` are the members' former offsets, ``base`` what to add to them; members before ``first`` are read anew,
    and reading cannot end at those in ``barred``. ``end`` is where the closing bracket stands now.
    """

    __slots__ = ("barred", "base", "end", "first", "met", "starts")

    def __init__(self, starts: Sequence[int], base: int, first: int, barred: Collection[int], end: int) -> None:
        self.starts = starts
        self.base = base
        self.first = first
        self.barred = barred
        self.end = end
        self.met: int | None = None
        """The member at which reading ended; one beyond the last: the closing bracket."""

    @property
    def next_known(self) -> int:
        """Where the first member that need not be read anew begins; without one: the closing bracket."""
        return self.starts[self.first] + self.base if self.first < len(self.starts) else self.end

    def meets(self, start: int) -> bool:
        at = bisect_left(self.starts, start - self.base, self.first)
        if at < len(self.starts) and self.starts[at] == start - self.base and at not in self.barred:
            self.met = at
            return True
        return False


class Frame:
    """A container that is being read. The columns are known when reading by layout only."""

    __slots__ = (
        "block",
        "candidates",
        "closed",
        "comma",
        "conflict",
        "end_before",
        "has_members",
        "key_column",
        "kind",
        "line_column",
        "members",
        "needs_comma",
        "opened",
        "problems",
        "resume",
        "start",
        "starts",
    )

    def __init__(self, kind: NodeKind, start: int) -> None:
        self.kind: NodeKind = kind
        self.start = start
        self.members: list[Member] = []
        self.starts: list[int] = []
        self.problems: list[RawProblem] = []
        self.conflict = False
        self.opened = True
        self.closed = True
        self.comma = -1
        """Offset of a comma that no member has followed yet."""
        self.needs_comma = False
        self.has_members = False
        self.end_before = -1
        """Where the member before the first one read ended, when reading began in the middle."""
        self.resume: Resume | None = None
        self.line_column = 0
        """Indentation of the line with the opening bracket."""
        self.key_column = -1
        """Indentation of the members that begin a line; -1: none has been read."""
        self.block = False
        """The opening bracket is the last thing on its line."""
        self.candidates: list[int] = []
        """Members whose value may have lost its opening bracket."""

    def add(self, member: Member, start: int) -> None:
        self.members.append(member)
        self.starts.append(start - self.start)
        self.comma, self.needs_comma, self.has_members = -1, True, True

    def ascribe(self, first: int, key: str, start: int) -> None:
        """The problems from number ``first`` on that lie behind ``start`` are about the pair with this key."""
        for at in range(first, len(self.problems)):
            problem = self.problems[at]
            if problem.start >= start - self.start and problem.rule != "json-comment":
                self.problems[at] = problem._replace(key=key)

    @property
    def end_of_members(self) -> int:
        """Offset behind the last member, at least behind the opening bracket."""
        if self.members:
            return self.start + self.starts[-1] + self.members[-1].length
        if self.end_before >= 0:
            return self.end_before
        return self.start + self.opened

    def node(self, end: int) -> Node:
        """The container, read up to ``end``."""
        data = object_data(self.members) if self.kind == "object" else array_data(self.members)
        node = Node(self.kind, end - self.start, data)
        node.members, node.starts = self.members, self.starts
        node.opened, node.closed, node.conflict = self.opened, self.closed, self.conflict
        if self.kind == "object" and len(data) != len(self.members):
            node.unread = sum(member.value_length < 0 for member in self.members)
        if len(data) != len(self.members) - node.unread and not self.conflict:
            self.problems += duplicates(self.members, self.starts)
        node.problems = tuple(self.problems)
        return node
