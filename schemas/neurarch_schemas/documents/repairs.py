"""What the tolerant reader does where a bracket is missing, too many or of the wrong kind."""

from __future__ import annotations

from abc import ABC, abstractmethod

from neurarch_schemas.documents import layout, recovery
from neurarch_schemas.documents.frames import Frame
from neurarch_schemas.documents.json_value import JSONValue
from neurarch_schemas.documents.nodes import Member, Node, NodeKind
from neurarch_schemas.documents.reporting import Reporting
from neurarch_schemas.documents.strict import MAX_DEPTH, SCALAR


class Value:
    """What stands at a value's place; ``readable`` is false where nothing can be told."""

    __slots__ = ("end", "node", "readable", "start", "value")

    def __init__(
        self, start: int, end: int, value: JSONValue = None, node: Node | None = None, readable: bool = True
    ) -> None:
        self.start = start
        self.end = end
        self.value = value
        self.node = node
        self.readable = readable


class Repairs(Reporting, ABC):
    """By layout only, except that the end of the text ends every container."""

    @abstractmethod
    def read_frame(self, frame: Frame, at: int) -> Value:
        """Reads the container ``frame`` from ``at`` on, which is inside it."""

    @abstractmethod
    def read_members(self, frame: Frame, at: int) -> int:
        """Reads on from ``at`` to the end of the container ``frame``, which is the last of ``frames``."""

    def _leave(self, frame: Frame, owner: Frame, at: int) -> int:
        """Ends a container that lacks its closing bracket; reading goes on at ``at``, in ``owner``."""
        end = frame.end_of_members
        if self.owner is None:
            closer, opener = ("}", "{") if frame.kind == "object" else ("]", "[")
            message = f"{closer} is missing: this {opener} is not closed"
            self.structural(message, frame.start, frame.start + 1)
            self.comma_at_owner = frame.comma
        self.repaired -= 1
        frame.closed = False
        self.owner, self.at_owner = owner, at
        return end

    def _stop(self, frame: Frame, at: int) -> int:
        """Ends a container in which reading ends at ``at``, and with it all others: whose the rest is, is not known."""
        if not self.stopped:
            self.not_read(frame, at)
        frame.closed = False
        self.owner, self.at_owner = self.frames[0], len(self.text)
        return max(len(self.text.rstrip(" \t\n\r")), frame.end_of_members)

    def _return(self, frame: Frame) -> int:
        """Takes up reading in the container that an unclosed one was left for."""
        self.owner = None
        frame.comma = self.comma_at_owner
        frame.needs_comma = frame.comma < 0
        return self.at_owner

    def _wrap(self, frame: Frame, end: int) -> None:
        """Makes an object of the members that follow one whose value lost its opening bracket."""
        at = frame.candidates.pop()
        first = at + 1
        start = frame.start + frame.starts[first]
        inner = Frame("object", start)
        inner.opened = False
        inner.members = frame.members[first:]
        inner.starts = [place + frame.start - start for place in frame.starts[first:]]
        owner = frame.members[at]
        del frame.members[first:], frame.starts[first:]
        node = inner.node(end - start)
        node.length = end - start
        owner.value_start = start - frame.start - frame.starts[at]
        owner.value_length, owner.value, owner.child = node.length, node.data, node
        frame.comma, frame.needs_comma = -1, True
        self.structural(f'{{ is missing after "{owner.key}":', start, start + 1)

    def _is_indented_value(self, frame: Frame, start: int) -> bool:
        """Whether the lines that begin at ``start``, deeper than their neighbours, are the value of the key before."""
        if not frame.members or len(self.frames) > MAX_DEPTH:
            return False
        last = frame.start + frame.starts[-1]
        if layout.own_line_column(self.text, last) != frame.key_column:
            return False
        return frame.members[-1].value_length < 0 or "," not in self.text[frame.end_of_members : start]

    def _indented_value(self, frame: Frame, start: int, column: int) -> int:
        member = frame.members[-1]
        self.structural(f'{{ is missing after "{member.key}":', start, start + 1)
        self.repaired += 1
        found = self.virtual("object", start, column, frame.key_column)
        member.value_start = start - frame.start - frame.starts[-1]
        member.value_length, member.value, member.child = found.end - start, found.value, found.node
        frame.comma, frame.needs_comma = -1, True
        if self.owner is frame:
            return self._return(frame)
        return found.end if self.owner is None else self._leave(frame, self.owner, self.at_owner)

    def _skip_stray_openers(self, at: int) -> int:
        text = self.text
        while text[at : at + 1] in ("{", "[") and not recovery.is_plausible(text, at):
            if text[at] == "{" and layout.LIST_AHEAD.match(text, at + 1) is not None:
                return at
            self.structural(f"this {text[at]} opens nothing", at, at + 1)
            self.repaired -= 1
            at = self.skip(at + 1)
        return at

    def _skip_stray_closer(self, frame: Frame, at: int) -> int:
        """A closing bracket in place of the opening one: the value's lines follow, deeper than the key's."""
        text = self.text
        if text[at : at + 1] in ("}", "]"):
            after = layout.skip_trivia(text, at + 1)
            if layout.own_line_column(text, after) > frame.key_column >= 0 and text[after : after + 1] not in (
                "}",
                "]",
            ):
                self.structural(f"an opening bracket is expected here, not {text[at]}", at, at + 1)
                self.repaired += 1
                return after
        return at

    def _lost_opener(self, frame: Frame, key: str, at: int) -> Value | None:
        """The container at ``at`` whose opening bracket is missing, or of the wrong kind."""
        text = self.text
        if len(self.frames) > MAX_DEPTH:
            return None
        character = text[at : at + 1]
        if character == "{" and self.balance == 0 and layout.LIST_AHEAD.match(text, at + 1) is not None:
            self.structural("[ is expected here, not {", at, at + 1)
            inner = Frame("array", at)
            recovery.open_layout(inner, text, at)
            return self.read_frame(inner, at + 1)
        column = layout.own_line_column(text, at)
        deeper = 0 <= frame.key_column < column
        kind: NodeKind
        if character == '"' and deeper and layout.KEY_AHEAD.match(text, at) is not None:
            kind = "object"
        elif self.balance < 0 and layout.LIST_AHEAD.match(text, at) is not None and (deeper or column < 0):
            quick = SCALAR.match(text, at)
            if quick is None or text[quick.end()] != "," or self._pair_follows(quick.end() + 1):
                return None
            kind = "array"
        else:
            return None
        self.structural(f'{"{" if kind == "object" else "["} is missing after "{key}":', at, at + 1)
        self.repaired += 1
        return self.virtual(kind, at, column, frame.key_column)

    def _pair_follows(self, at: int) -> bool:
        return layout.KEY_AHEAD.match(self.text, layout.skip_trivia(self.text, at)) is not None

    def virtual(self, kind: NodeKind, at: int, column: int, line_column: int) -> Value:
        """A container without its opening bracket; its members begin at ``at``, in lines unless ``column`` is -1."""
        inner = Frame(kind, at)
        inner.opened = False
        inner.line_column, inner.key_column, inner.block = line_column, column, column >= 0
        return self.read_frame(inner, at)

    def _end_of_text(self, frame: Frame, at: int) -> int:
        frame.closed = False
        end = max(len(self.text.rstrip(" \t\n\r")), frame.start + frame.opened)
        if not self.ended:
            missing = "".join("}" if outer.kind == "object" else "]" for outer in reversed(self.frames[1:]))
            self.ended = True
            opener = (frame.start, frame.start + 1)
            self.structural(f"the file ends too early: {missing} is missing", max(end - 1, 0), end, opener)
        return min(end, max(at, frame.start + 1))

    def _pair_in_list(self, frame: Frame, start: int) -> tuple[bool, int]:
        """A pair met inside a list: whether the list is over, and where to go on."""
        text = self.text
        column = layout.own_line_column(text, start)
        if (
            not frame.has_members
            and frame.opened
            and (column > frame.line_column if frame.block else column < 0 and self.balance == 0)
        ):
            self.structural("{ is expected here, not [", frame.start, frame.start + 1)
            frame.kind = "object"
            return True, self.read_members(frame, start)
        if 0 <= frame.key_column < column and len(self.frames) <= MAX_DEPTH:
            self.structural("{ is missing before this key", start, start + 1)
            self.repaired += 1
            found = self.virtual("object", start, column, frame.key_column)
            frame.add(Member(None, 0, 0, found.end - start, found.value, found.node), start)
            if self.owner is None:
                return False, found.end
            if self.owner is not frame:
                return True, self._leave(frame, self.owner, self.at_owner)
            return False, self._return(frame)
        owner = recovery.owner_of_pair(self.frames, text, start)
        if owner is None:
            return False, start
        return True, self._leave(frame, owner, start)
