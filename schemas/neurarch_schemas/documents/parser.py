"""The tolerant reader: objects and lists with the place of every member, and what is wrong with them.

It reads twice if it must. First it trusts the brackets. Where these do not match, it reads by layout: a key that stands
on a line of its own, indented as the keys of an outer object, belongs to that object, whatever brackets are missing.
"""

from __future__ import annotations

import re

from neurarch_schemas.documents import layout, recovery
from neurarch_schemas.documents.frames import Frame
from neurarch_schemas.documents.json_value import JSONValue
from neurarch_schemas.documents.nodes import Member
from neurarch_schemas.documents.repairs import Repairs, Value
from neurarch_schemas.documents.reporting import LARGE, Exhausted, Unbalanced
from neurarch_schemas.documents.scanner import (
    JUNK,
    Scalar,
    end_of_tuple,
    read_curly,
    read_number,
    read_string,
    read_word,
    silent,
)
from neurarch_schemas.documents.strict import (
    MAX_DEPTH,
    NEXT,
    PAIR,
    SCALAR,
    SOUND_PAIR,
    STRICT_ERRORS,
    is_too_deep,
    quick_value,
    scalar_value,
)

_TOKEN = re.compile(r'"|[{\[]+|[}\]]+')


class Parser(Repairs):
    """Reads one text."""

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
        elif (curly := read_curly(text, at, self.report)) is not None:
            scalar = curly
        elif (tuple_end := end_of_tuple(text, at)) > at:
            self.report("json-syntax", "JSON has no tuples: a list stands in [ ]", at, tuple_end)
            return Value(at, tuple_end, readable=False)
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
        return self.read_frame(frame, at + 1)

    def read_frame(self, frame: Frame, at: int) -> Value:
        self.frames.append(frame)
        try:
            end = self.read_members(frame, at)
        except Exhausted as stop:
            if not self.by_layout:
                raise Unbalanced from None
            end = self._stop(frame, stop.at)
        self.frames.pop()
        node = frame.node(end)
        return Value(frame.start, end, node.data, node)

    def read_members(self, frame: Frame, at: int) -> int:
        """Reads on from ``at`` to the end of the container ``frame``, which is the last of ``frames``."""
        return self._object(frame, at) if frame.kind == "object" else self._array(frame, at)

    def _quick(self, at: int) -> Value | None:
        """The container at ``at`` if it is sound, read by the standard library; its members' places are found later."""
        depth = len(self.frames)
        if depth > 16 or (self.by_layout and depth == 1):
            return None
        text = self.text
        sound = self._sound_part(at, depth) if self.is_large else self._scan_part(0, at, len(text))
        if sound is None:
            return None
        value, end = sound
        if self.by_layout and not self._fits_layout(at, end):
            return None
        if end - at > 2 * MAX_DEPTH and is_too_deep(text, at, end, value, MAX_DEPTH - depth):
            return None
        return Value(at, end, value)

    def _sound_part(self, at: int, depth: int) -> tuple[JSONValue, int] | None:
        """The container at ``at`` of a large text, unless it is damaged or itself large.

        The standard library counts lines up to each error it finds, and reads on to the next one: it is given a part
        of the text only, which ends where the next brackets, or else the line that seems to close it, tell.
        """
        text = self.text
        closer = "}" if text[at] == "{" else "]"
        close = text.find(closer, at, at + LARGE)
        if close < 0:
            return None
        if text.find(text[at], at + 1, close) < 0 and (sound := self._scan_part(at, at, close + 1)) is not None:
            return sound
        start = layout.line_start(text, at)
        indent = text[start : start + layout.line_column(text, at)]
        line = text.find(f"\n{indent}{closer}", at, at + LARGE)
        if line >= 0:
            return self._scan_part(at, at, line + len(indent) + 2)
        # In a file without lines the outer containers are the large ones.
        if len(text) - at >= LARGE and (depth < 4 or "\n" in text[at : at + 4096]):
            return None
        return self._scan_part(at, at, at + LARGE)

    def _scan_part(self, start: int, at: int, end: int) -> tuple[JSONValue, int] | None:
        text = self.text
        try:
            value, length = self.scan(text if end - start >= len(text) else text[start:end], at - start)
        except STRICT_ERRORS:
            return None
        return value, start + length

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

    def _object(self, frame: Frame, at: int) -> int:
        text = self.text
        resume = frame.resume
        problems = frame.problems
        while True:
            if resume is None and not frame.needs_comma:
                at = self._plain_pairs(frame, at)
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
                if not (character in ('"', "'", "_", "$", "“", "”") or character.isalpha()):
                    at = self._stray(frame, start)
                    if self.owner is not None:
                        frame.closed = False
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

    def _plain_pairs(self, frame: Frame, at: int) -> int:
        """Reads on over the pairs from ``at`` that leave nothing to decide, as nearly all do; gives where it ends."""
        text, by_layout, column = self.text, self.by_layout, frame.key_column
        members, starts, base = frame.members, frame.starts, frame.start
        known = len(members)
        pair = SOUND_PAIR.match(text, at)
        while pair is not None:
            start = pair.start(1) - 1
            if by_layout:
                blank = text[at:start]
                newline = max(blank.rfind("\n"), blank.rfind("\r"))
                if (newline >= 0 and len(blank) - newline - 1 != column) or len(blank) >= layout.LONG:
                    break
            elif start >= self.limit:
                break
            kind = (pair.lastindex or 2) - 1
            value_at, end = pair.span(kind + 1)
            key, spelled = pair[1], pair[kind + 1]
            if kind == 1:
                value_at, end = value_at - 1, end + 1
            value = scalar_value(spelled, kind)
            members.append(Member(key, len(key) + 2, value_at - start, end - value_at, value))
            starts.append(start - base)
            at = pair.end()
            pair = SOUND_PAIR.match(text, at)
        if len(members) > known:
            frame.comma, frame.has_members = at - 1, True
        return at

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

    def _key(self, start: int) -> tuple[str, int]:
        """A key that is not plainly a quoted word: its text, and where it ends."""
        text = self.text
        if text[start] in "\"'":
            scalar = read_string(text, start, self.report)
            return str(scalar.value), scalar.end
        curly = read_curly(text, start, self.report)
        if curly is not None:
            return str(curly.value), curly.end
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
        if character == "=":
            self.report("json-syntax", "a colon stands between key and value, not =", after, after + 1, ":")
            return self.skip(after + 1)
        on_next_line = "\n" in text[key_end:after] or "\r" in text[key_end:after]
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

    def _stray(self, frame: Frame, at: int) -> int:
        """Steps over what cannot stand at a key's place."""
        text = self.text
        character = text[at]
        if character == ";" and frame.needs_comma:
            self.report("json-syntax", "pairs are separated by commas, not by ;", at, at + 1, ",")
            frame.comma, frame.needs_comma = at, False
            return at + 1
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
        reported = len(frame.problems)
        end = self._drop(frame, at)
        if self.owner is None and len(frame.problems) == reported:
            self.report("json-syntax", "a key is expected here", at, max(end, at + 1))
        return max(end, at + 1)

    def _drop(self, frame: Frame, at: int) -> int:
        """Reads a value that belongs to no key."""
        end = self.value(at).end
        frame.needs_comma = frame.needs_comma or end > at
        if self.owner is frame:
            return self._return(frame)
        return end

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
            quick = SCALAR.match(text, start)
            if quick is not None:
                spelled = quick[quick.lastindex or 1]
                at = start + len(spelled) + (2 if quick.lastindex == 1 else 0)
                frame.add(Member(None, 0, 0, at - start, quick_value(quick)), start)
                if text[quick.end()] == ",":
                    frame.comma, frame.needs_comma = quick.end(), False
                    at = quick.end() + 1
                continue
            found = self.value(start)
            length = found.end - start
            frame.add(Member(None, 0, 0, length, found.value, found.node, found.readable), start)
            at = max(found.end, start + 1)
            if self.owner is not None:
                if self.owner is not frame:
                    return self._leave(frame, self.owner, self.at_owner)
                at = self._return(frame)


def _skip_nested(text: str, at: int) -> int:
    depth = 0
    while (token := _TOKEN.search(text, at)) is not None:
        at = token.end()
        brackets = token[0]
        if brackets == '"':
            at = read_string(text, token.start(), silent).end
            continue
        if brackets[0] in "{[":
            depth += len(brackets)
        elif depth <= len(brackets):
            return token.start() + depth
        else:
            depth -= len(brackets)
    return len(text)
