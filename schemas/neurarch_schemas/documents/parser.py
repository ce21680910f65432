"""The tolerant reader: objects and lists with the place of every member, and what is wrong with them.

It reads twice if it must. First it trusts the brackets. Where these do not match, it reads by layout: a key that stands
on a line of its own, indented as the keys of an outer object, belongs to that object, whatever brackets are missing.
"""

from __future__ import annotations

from neurarch_schemas.documents import layout, recovery
from neurarch_schemas.documents.document import SyntaxRule
from neurarch_schemas.documents.frames import Frame
from neurarch_schemas.documents.json_value import JSONValue
from neurarch_schemas.documents.nodes import Member, Node, NodeKind, RawProblem
from neurarch_schemas.documents.scanner import CONFLICT, JUNK, Scalar, read_number, read_string, read_word, silent
from neurarch_schemas.documents.strict import (
    MAX_DEPTH,
    NEXT,
    PAIR,
    SCALAR,
    SPACE,
    STRICT_ERRORS,
    is_too_deep,
    quick_value,
    strict_scanner,
)

LARGE = 65_536
"""Code points. Larger containers are read member by member, so that an edit later finds their members' places."""
_INVISIBLE = "\u00a0\ufeff\u200b\u2028\u2029\u0085\x0b\x0c\u3000\u2003"


class Unbalanced(Exception):
    """The brackets do not match."""


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


class Parser:
    """Reads one text. ``frames`` holds the containers around the place being read, the document itself first."""

    def __init__(
        self, text: str, comments_allowed: bool = False, by_layout: bool = False, balance: int | None = None
    ) -> None:
        self.text = text
        self._balance = balance
        self.limit = len(text) + 1
        """Containers that are opened before this offset must be closed before it, while brackets are trusted."""
        self.comments_allowed = comments_allowed
        self.by_layout = by_layout
        self.frames: list[Frame] = []
        self.scan = strict_scanner()
        self.is_large = len(text) > LARGE
        self.owner: Frame | None = None
        """The outer container where reading goes on, when inner ones lack their closing brackets."""
        self.at_owner = 0
        self.ended = False
        """The text has ended inside a container, which is reported."""
        self.comma_at_owner = -1
        self.repaired = 0

    @property
    def balance(self) -> int:
        """Opening less closing brackets, those already accounted for left aside."""
        if self._balance is None:
            self._balance = layout.bracket_balance(self.text)
        return self._balance + self.repaired

    def report(
        self, rule: SyntaxRule, message: str, start: int, end: int, fix: str | None = None, open_ended: bool = False
    ) -> None:
        repair = None if fix is None else (start, end, fix)
        self._add(rule, message, start, end, repair, structural=open_ended)

    def _add(
        self,
        rule: SyntaxRule,
        message: str,
        start: int,
        end: int,
        fix: tuple[int, int, str] | None = None,
        key: str | None = None,
        related: tuple[int, int] | None = None,
        structural: bool = False,
    ) -> None:
        frame = self.frames[-1]
        base = frame.start
        if fix is not None:
            fix = (fix[0] - base, fix[1] - base, fix[2])
        if related is not None:
            related = (related[0] - base, related[1] - base)
        frame.problems.append(RawProblem(rule, message, start - base, end - base, key, related, structural, fix))

    def structural(self, message: str, start: int, end: int, related: tuple[int, int] | None = None) -> None:
        """Reports brackets that do not match. Raises Unbalanced while brackets are trusted."""
        if not self.by_layout:
            raise Unbalanced
        self._add("json-syntax", message, start, end, related=related, structural=True)

    # Between values.

    def skip(self, at: int) -> int:
        """Behind white space, comments and conflict markers."""
        text = self.text
        while True:
            space = SPACE.match(text, at)
            at = at if space is None else space.end()
            character = text[at : at + 1]
            if character in ("/", "#"):
                end = self._comment(at)
                if end == at:
                    return at
                at = end
            elif character in ("<", "=", ">", "|"):
                marker = CONFLICT.match(text, at)
                if marker is None or not (at == 0 or text[at - 1] in "\n\r"):
                    return at
                self.frames[-1].conflict = True
                self.report("json-syntax", "a git conflict marker: this merge is not resolved", at, marker.end())
                at = marker.end()
            elif character and character in _INVISIBLE:
                name = f"U+{ord(character):04X}"
                self.report("json-syntax", f"an invisible character ({name}) that JSON does not allow", at, at + 1, "")
                at += 1
            else:
                return at

    def _comment(self, at: int) -> int:
        text = self.text
        line_end = line_end_of(text, at)
        end = line_end
        if text.startswith("/*", at):
            close = text.find("*/", at + 2)
            if close >= 0:
                end = close + 2
            else:
                self.report("json-syntax", "this comment is not closed: */ is missing", at, end, open_ended=True)
        elif not text.startswith("//", at) and text[at] != "#":
            return at
        if not self.comments_allowed or text[at] == "#":
            self.report("json-comment", "JSON has no comments: strict parsers refuse this file", at, end)
        return end

    # Values.

    def value(self, at: int) -> Value:
        """The value at ``at``; nothing is skipped before it."""
        text = self.text
        character = text[at : at + 1]
        scalar: Scalar
        if character in ("{", "["):
            return self.container(at)
        if character in ('"', "'"):
            scalar = read_string(text, at, self.report)
        elif character and character in "-+.0123456789":
            scalar = read_number(text, at, self.report)
        elif character.isalpha() or character in ("_", "$"):
            scalar = read_word(text, at, self.report)
        elif character in ("", ",", ":", "}", "]"):
            return Value(at, at, readable=False)
        else:
            junk = JUNK.match(text, at)
            end = at + 1 if junk is None else junk.end()
            self.report("json-syntax", f"{text[at : min(end, at + 40)]} is not JSON", at, end)
            return Value(at, end, readable=False)
        return Value(at, scalar.end, scalar.value, readable=scalar.readable)

    def container(self, at: int) -> Value:
        """The object or list whose bracket stands at ``at``."""
        if len(self.frames) > MAX_DEPTH:
            self.report("json-syntax", f"nested more than {MAX_DEPTH} levels deep: not read from here on", at, at + 1)
            return Value(at, _skip_nested(self.text, at), readable=False)
        quick = self._quick(at)
        if quick is not None:
            return quick
        frame = Frame("object" if self.text[at] == "{" else "array", at)
        if self.by_layout:
            recovery.open_layout(frame, self.text, at)
        return self._read(frame, at + 1)

    def _read(self, frame: Frame, at: int) -> Value:
        self.frames.append(frame)
        end = self.read_members(frame, at)
        self.frames.pop()
        node = frame.node(end)
        return Value(frame.start, end, node.data, node)

    def read_members(self, frame: Frame, at: int) -> int:
        """Reads on from ``at`` to the end of the container ``frame``, which is the last of ``frames``."""
        return self._object(frame, at) if frame.kind == "object" else self._array(frame, at)

    def _quick(self, at: int) -> Value | None:
        """The container at ``at`` if it is sound, read by the standard library; its members' places are found later."""
        depth = len(self.frames)
        if depth > 16 or (self.by_layout and depth == 1) or (self.is_large and self._may_be_large(at, depth)):
            return None
        text = self.text
        try:
            value, end = self.scan(text, at)
        except STRICT_ERRORS:
            return None
        if self.by_layout and not self._fits_layout(at, end):
            return None
        if end - at > 2 * MAX_DEPTH and is_too_deep(text, at, end, value, MAX_DEPTH - depth):
            return None
        return Value(at, end, value)

    def _may_be_large(self, at: int, depth: int) -> bool:
        """Guesses a container's size by the next brackets, else by the line that seems to close it."""
        text = self.text
        if len(text) - at < LARGE:
            return False
        closer = "}" if text[at] == "{" else "]"
        close = text.find(closer, at, at + LARGE)
        if close >= 0 and text.find(text[at], at + 1, close) < 0:
            return False
        start = layout.line_start(text, at)
        indent = text[start : start + layout.line_column(text, at)]
        if text.find(f"\n{indent}{closer}", at, at + LARGE) >= 0:
            return False
        # In a file without lines the outer containers are the large ones.
        return depth < 4 or "\n" in text[at : at + 4096]

    def _fits_layout(self, at: int, end: int) -> bool:
        text = self.text
        if "\n" not in text[at:end] and "\r" not in text[at:end]:
            parent = self.frames[-1]
            if self.balance < 0 and text[(behind := layout.skip_trivia(text, end)) : behind + 1] not in (
                "",
                ",",
                "}",
                "]",
            ):
                return False
            if layout.own_line_column(text, layout.skip_trivia(text, end)) > layout.line_column(text, at):
                return False
            if not (parent.kind == "object" and parent.block and parent.key_column >= 0):
                return True
            following, same_line = layout.next_token(text, end)
            return not same_line or text[following : following + 1] in ("", "}", "]")
        return layout.ends_line(text, at + 1) and layout.own_line_column(text, end - 1) == layout.line_column(text, at)

    # Objects.

    def _object(self, frame: Frame, at: int) -> int:
        text = self.text
        resume = frame.resume
        problems = frame.problems
        while True:
            reported = len(problems)
            pair = PAIR.match(text, at)
            if pair is not None:
                start, value_at = pair.start(1), pair.end()
                key = pair[2]
                key_end = start + len(key) + 2
            else:
                start = self.skip(at)
                character = text[start : start + 1]
                if character in ("", ",", "}", "]"):
                    at, done = self._separator(frame, start, character)
                    if done:
                        return at
                    continue
                if not (character in ('"', "'", "_", "$") or character.isalpha()):
                    at = self._stray(frame, start)
                    if self.owner is not None:
                        return at
                    continue
                value_at = key_end = start
                key = ""
            if resume is None:
                if start >= self.limit and not self.by_layout:
                    raise Unbalanced
            elif start > resume.end:
                raise Unbalanced
            elif not frame.needs_comma and resume.meets(start):
                return start
            if self.by_layout and (column := layout.own_line_column(text, start)) >= 0:
                is_key = pair is not None or layout.KEY_AHEAD.match(text, start) is not None
                owner = recovery.dedented(self.frames, column) if is_key or frame.key_column < 0 else None
                if owner is not None and is_key:
                    return self._leave(frame, owner, start)
                if is_key and 0 <= frame.key_column < column and self._is_indented_value(frame, start):
                    at = self._indented_value(frame, start, column)
                    if self.owner is not None:
                        return at
                    continue
            sound = True
            if pair is None:
                key, key_end = self._key(start)
                value_at = self._behind_colon(start, key, key_end)
                if value_at < 0:
                    frame.add(Member(key, key_end - start, key_end - start, -1, None, sound=False), start)
                    frame.ascribe(reported, key, start)
                    at = -value_at
                    continue
                sound = text[start] == '"'
            if frame.needs_comma:
                before = frame.end_of_members
                # Of two strings in a row before a colon one is too many: neither is surely the key.
                sound = sound and (
                    not frame.members or frame.members[-1].value_length >= 0 or "\n" in text[before:start]
                )
                message = "a comma is missing before this key"
                self._add("json-syntax", message, start, key_end, fix=(before, before, ","))
            quick = SCALAR.match(text, value_at)
            if quick is not None:
                spelled = quick[quick.lastindex or 1]
                value: JSONValue
                if quick.lastindex == 1:
                    value, end = spelled, value_at + len(spelled) + 2
                else:
                    value, end = quick_value(quick), value_at + len(spelled)
                frame.add(Member(key, key_end - start, value_at - start, end - value_at, value, None, sound), start)
                if len(problems) > reported:
                    frame.ascribe(reported, key, start)
                at = end
            else:
                value_at = self.skip(value_at)
                found = self._pair_value(frame, start, key, key_end, value_at)
                length = found.end - found.start if found.readable else -1
                sound = sound and found.readable
                member = Member(key, key_end - start, found.start - start, length, found.value, found.node, sound)
                frame.add(member, start)
                if len(problems) > reported:
                    frame.ascribe(reported, key, start)
                at = max(found.end, value_at)
                if self.owner is not None:
                    if self.owner is not frame:
                        return self._leave(frame, self.owner, self.at_owner)
                    at = self._return(frame)
                    continue
            following = NEXT.match(text, at)
            if following is not None:
                if following[1] == ",":
                    frame.comma, frame.needs_comma = following.end() - 1, False
                    at = following.end()
                elif following[1] == "}" and not self.by_layout and resume is None:
                    return following.end()

    def _separator(self, frame: Frame, at: int, character: str) -> tuple[int, bool]:
        """Reads a comma, a closing bracket or the end; gives where to go on and whether the container is over."""
        if character == ",":
            if frame.comma >= 0 or not frame.has_members:
                self.report("json-syntax", "a comma too many", at, at + 1, "")
            else:
                frame.comma = at
            frame.needs_comma = False
            return at + 1, False
        if not self.by_layout and at >= self.limit and frame.resume is None:
            raise Unbalanced
        if not character:
            return self._end_of_text(frame, at), True
        if frame.resume is not None and at == frame.resume.end:
            self._trailing(frame, character)
            frame.resume.met = len(frame.resume.starts)
            return at + 1, True
        if not self.by_layout:
            if (character == "}") != (frame.kind == "object") or frame.resume is not None:
                raise Unbalanced
            self._trailing(frame, character)
            return at + 1, True
        verdict = recovery.verdict(self.frames, self.text, at, self.balance)
        if verdict == "close":
            self._trailing(frame, character)
            if (character == "}") != (frame.kind == "object"):
                right = "}" if frame.kind == "object" else "]"
                self.structural(f"{right} is expected here, not {character}", at, at + 1)
            return at + 1, True
        if isinstance(verdict, Frame):
            return self._leave(frame, verdict, at), True
        self.repaired += 1
        if verdict == "wrap":
            self._wrap(frame, at + 1)
        else:
            self.structural(f"this {character} closes nothing", at, at + 1)
        return at + 1, False

    def _trailing(self, frame: Frame, closer: str) -> None:
        if frame.comma >= 0:
            message = f"a trailing comma before {closer}, which JSON does not allow"
            self.report("json-syntax", message, frame.comma, frame.comma + 1, "")

    def _end_of_text(self, frame: Frame, at: int) -> int:
        frame.closed = False
        end = max(len(self.text.rstrip(" \t\n\r")), frame.start + frame.opened)
        if not self.ended:
            missing = "".join("}" if outer.kind == "object" else "]" for outer in reversed(self.frames[1:]))
            self.ended = True
            opener = (frame.start, frame.start + 1)
            self.structural(f"the file ends too early: {missing} is missing", max(end - 1, 0), end, opener)
        return min(end, max(at, frame.start + 1))

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

    def _key(self, start: int) -> tuple[str, int]:
        """A key that is not plainly a quoted word: its text, and where it ends."""
        text = self.text
        if text[start] in "\"'":
            scalar = read_string(text, start, self.report)
            return str(scalar.value), scalar.end
        end = read_word(text, start, silent).end
        if text[end : end + 1] in ('"', "'"):
            end += 1
        word = text[start:end].rstrip("\"'")
        self.report("json-syntax", f'a key stands in double quotes: "{word}"', start, end, f'"{word}"')
        return word, end

    def _behind_colon(self, start: int, key: str, key_end: int) -> int:
        """Where the value of a key stands; where there is none: where to go on, negative."""
        text = self.text
        after = self.skip(key_end)
        character = text[after : after + 1]
        if character == ":":
            return self.skip(after + 1)
        on_next_line = layout.line_start(text, after) > start
        if character in ("", ",", "}", "]") or on_next_line or layout.KEY_AHEAD.match(text, after) is not None:
            self.report("json-syntax", f'"{key}" has no value', start, key_end)
            return -after
        if self.by_layout and character in "{[":
            self.structural(f"a colon is expected here, not {character}", after, after + 1)
            self.repaired -= 1
            return self.skip(after + 1)
        message = f'a colon is missing after "{key}"'
        self._add("json-syntax", message, start, key_end, fix=(key_end, key_end, ":"))
        return after

    def _pair_value(self, frame: Frame, start: int, key: str, key_end: int, at: int) -> Value:
        text = self.text
        if self.by_layout:
            at = self._skip_stray_closer(frame, at)
            at = self._skip_stray_openers(at)
            virtual = self._lost_opener(frame, key, at)
            if virtual is not None:
                return virtual
        if text[at : at + 1] == '"' and layout.KEY_AHEAD.match(text, at) is not None:
            found = Value(at, at, readable=False)
        else:
            found = self.value(at)
        if found.end == at:
            self.report("json-syntax", f'"{key}" has no value', start, key_end)
            frame.candidates.append(len(frame.members))
            found.end = at
        return found

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
            return self._read(inner, at + 1)
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
        return self._read(inner, at)

    def _stray(self, frame: Frame, at: int) -> int:
        """Steps over what cannot stand at a key's place."""
        text = self.text
        character = text[at]
        if character == ":":
            self.report("json-syntax", "a key is missing before this colon", at, at + 1)
            after = self.skip(at + 1)
            if text[after : after + 1] == '"' and layout.KEY_AHEAD.match(text, after) is not None:
                return after
            if self.by_layout and text[after : after + 1] in ("{", "[") and not recovery.is_plausible(text, after):
                return after
            return self._drop(frame, after)
        if character in "{[" and self.by_layout:
            owner = recovery.owner_of_opener(self.frames, text, at)
            if owner is not None:
                return self._leave(frame, owner, at)
            self.structural(f"this {character} opens nothing", at, at + 1)
            self.repaired -= 1
            return at + 1
        end = self._drop(frame, at)
        if self.owner is None:
            self.report("json-syntax", "a key is expected here", at, max(end, at + 1))
        return max(end, at + 1)

    def _drop(self, frame: Frame, at: int) -> int:
        """Reads a value that belongs to no key."""
        end = self.value(at).end
        frame.needs_comma = frame.needs_comma or end > at
        if self.owner is frame:
            return self._return(frame)
        return end

    # Lists.

    def _array(self, frame: Frame, at: int) -> int:
        text = self.text
        resume = frame.resume
        while True:
            start = self.skip(at)
            character = text[start : start + 1]
            if character in ("", ",", "}", "]"):
                at, done = self._separator(frame, start, character)
                if done:
                    return at
                continue
            if resume is None:
                if start >= self.limit and not self.by_layout:
                    raise Unbalanced
            elif start > resume.end:
                raise Unbalanced
            elif not frame.needs_comma and resume.meets(start):
                return start
            if character == ":":
                self.report("json-syntax", "a colon has no place in a list", start, start + 1)
                at = start + 1
                continue
            if self.by_layout:
                if character == '"' and layout.PAIR_AHEAD.match(text, start) is not None:
                    done, at = self._pair_in_list(frame, start)
                    if done:
                        return at
                    if at > start:
                        continue
                elif frame.key_column < 0:
                    frame.key_column = layout.own_line_column(text, start)
                if character in "{[" and not recovery.is_plausible(text, start):
                    self.structural(f"this {character} opens nothing", start, start + 1)
                    self.repaired -= 1
                    at = start + 1
                    continue
            if frame.needs_comma:
                before = frame.end_of_members
                self._add("json-syntax", "a comma is missing", start, start + 1, fix=(before, before, ","))
            found = self.value(start)
            length = found.end - start
            frame.add(Member(None, 0, 0, length, found.value, found.node, found.readable), start)
            at = max(found.end, start + 1)
            if self.owner is not None:
                if self.owner is not frame:
                    return self._leave(frame, self.owner, self.at_owner)
                at = self._return(frame)

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
            return True, self._object(frame, start)
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


def line_end_of(text: str, at: int) -> int:
    """Where the line of ``at`` ends."""
    newline = text.find("\n", at)
    back = text.find("\r", at, newline if newline >= 0 else len(text))
    return back if back >= 0 else newline if newline >= 0 else len(text)


def _skip_nested(text: str, at: int) -> int:
    depth = 0
    while at < len(text):
        character = text[at]
        if character == '"':
            at = read_string(text, at, silent).end
            continue
        depth += (character in "{[") - (character in "}]")
        at += 1
        if depth == 0:
            break
    return at
