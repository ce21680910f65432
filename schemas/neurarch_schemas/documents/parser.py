"""The tolerant reader: objects and lists with the place of every member, and what is wrong with them."""

from __future__ import annotations

from neurarch_schemas.documents.document import SyntaxRule
from neurarch_schemas.documents.json_value import JSONValue
from neurarch_schemas.documents.nodes import Member, Node, NodeKind, RawProblem, array_data, object_data
from neurarch_schemas.documents.scanner import (
    CONFLICT,
    JUNK,
    NEXT,
    PAIR,
    SCALAR,
    SPACE,
    WORDS,
    Scalar,
    read_number,
    read_string,
    read_word,
)

MAX_DEPTH = 200
"""Deeper nesting is reported and not read; no configuration comes near, and whoever walks the values stays safe."""


class Frame:
    """A container that is being read."""

    __slots__ = ("conflict", "kind", "members", "problems", "start", "starts")

    def __init__(self, kind: NodeKind, start: int) -> None:
        self.kind = kind
        self.start = start
        self.members: list[Member] = []
        self.starts: list[int] = []
        self.problems: list[RawProblem] = []
        self.conflict = False


class Value:
    """What stands at a value's place; ``readable`` is false where nothing can be told."""

    __slots__ = ("end", "node", "readable", "sound", "start", "value")

    def __init__(
        self,
        start: int,
        end: int,
        value: JSONValue,
        node: Node | None = None,
        readable: bool = True,
        sound: bool = True,
    ) -> None:
        self.start = start
        self.end = end
        self.value = value
        self.node = node
        self.readable = readable
        self.sound = sound


class Parser:
    def __init__(self, text: str, comments_allowed: bool = False) -> None:
        self.text = text
        self.comments_allowed = comments_allowed
        self.frames: list[Frame] = []

    def report(self, rule: SyntaxRule, message: str, start: int, end: int) -> None:
        frame = self.frames[-1]
        frame.problems.append(RawProblem(rule, message, start - frame.start, end - frame.start))

    def skip(self, at: int) -> int:
        """Behind white space, comments and conflict markers."""
        text = self.text
        while True:
            space = SPACE.match(text, at)
            at = space.end() if space is not None else at
            character = text[at : at + 1]
            if character in "/#" and character:
                end = self._comment(at)
                if end == at:
                    return at
                at = end
            elif character in "<=>|" and character and (at == 0 or text[at - 1] in "\n\r"):
                marker = CONFLICT.match(text, at)
                if marker is None:
                    return at
                self.frames[-1].conflict = True
                self.report("json-syntax", "a git conflict marker: this merge is not resolved", at, marker.end())
                at = marker.end()
            elif character and character in "\u00a0\ufeff\u200b\u2028\u2029\x0b\x0c\u3000\u2003":
                name = f"U+{ord(character):04X}"
                self.report(
                    "json-syntax", f"an invisible character ({name}) which JSON does not allow here", at, at + 1
                )
                at += 1
            else:
                return at

    def _comment(self, at: int) -> int:
        text = self.text
        if text.startswith("/*", at):
            close = text.find("*/", at + 2)
            end = close + 2 if close >= 0 else len(text)
            if close < 0:
                self.report("json-syntax", "this comment is not closed: */ is missing", at, end)
        elif text.startswith("//", at) or text[at] == "#":
            end = min((found for found in (text.find("\n", at), text.find("\r", at)) if found >= 0), default=len(text))
        else:
            return at
        if not self.comments_allowed or text[at] == "#":
            self.report("json-comment", "JSON has no comments: strict parsers refuse this file", at, end)
        return end

    def value(self, at: int) -> Value:
        """The value at ``at``, where trivia has been skipped."""
        text = self.text
        character = text[at : at + 1]
        if character in "{[" and character:
            return self.container(at)
        scalar: Scalar
        if character in "\"'" and character:
            scalar = read_string(text, at, self.report)
        elif character and character in "-+.0123456789":
            scalar = read_number(text, at, self.report)
        elif character.isalpha() or character in ("_", "$"):
            scalar = read_word(text, at, self.report)
        elif not character or character in ",:}]":
            return Value(at, at, None, readable=False)
        else:
            junk = JUNK.match(text, at)
            end = junk.end() if junk is not None else at + 1
            self.report("json-syntax", f"{text[at : min(end, at + 40)]!r} is not JSON", at, end)
            return Value(at, end, None, readable=False)
        return Value(at, scalar.end, scalar.value, readable=scalar.readable)

    def container(self, at: int) -> Value:
        kind: NodeKind = "object" if self.text[at] == "{" else "array"
        if len(self.frames) >= MAX_DEPTH:
            self.report("json-syntax", f"nested more than {MAX_DEPTH} levels deep: not read from here on", at, at + 1)
            return Value(at, self._skip_nested(at), None, readable=False)
        frame = Frame(kind, at)
        self.frames.append(frame)
        end = self._object(frame, at + 1) if kind == "object" else self._array(frame, at + 1)
        self.frames.pop()
        node = self.finish(frame, end)
        return Value(at, end, node.data, node)

    def finish(self, frame: Frame, end: int) -> Node:
        data = object_data(frame.members) if frame.kind == "object" else array_data(frame.members)
        node = Node(frame.kind, end - frame.start, data)
        node.members = frame.members
        node.starts = frame.starts
        if isinstance(data, dict) and len(data) != len(frame.members) and not frame.conflict:
            self._duplicates(frame)
        node.problems = tuple(frame.problems)
        return node

    def _duplicates(self, frame: Frame) -> None:
        first: dict[str, int] = {}
        for at, member in enumerate(frame.members):
            key = member.key or ""
            start = frame.starts[at]
            if key not in first:
                first[key] = at
            elif member.value_length >= 0 and frame.members[first[key]].value_length >= 0:
                other = frame.starts[first[key]]
                message = f'"{key}" is written twice in this object: the last one counts'
                related = (other, other + frame.members[first[key]].key_length)
                frame.problems.append(
                    RawProblem("json-duplicate-key", message, start, start + member.key_length, at, related)
                )

    def _skip_nested(self, at: int) -> int:
        depth = 0
        text = self.text
        while at < len(text):
            character = text[at]
            if character == '"':
                at = read_string(text, at, lambda *_: None).end
                continue
            depth += (character in "{[") - (character in "}]")
            at += 1
            if depth == 0:
                break
        return at

    def _object(self, frame: Frame, at: int) -> int:
        text = self.text
        needs_comma = False
        comma = -1
        base = frame.start
        while True:
            pair = PAIR.match(text, at)
            if pair is not None:
                start, value_at = pair.start(1), pair.end()
                key, key_end = pair[2], start + len(pair[2]) + 2
            else:
                start = self.skip(at)
                character = text[start : start + 1]
                if not character:
                    self._truncated(frame, start)
                    return start
                if character == ",":
                    if comma >= 0 or not frame.members:
                        self.report("json-syntax", "a comma too many", start, start + 1)
                    comma, needs_comma, at = start, False, start + 1
                    continue
                if character in "}]":
                    if character == "]":
                        self.report("json-syntax", "} is missing: ] does not close the { before it", start, start + 1)
                    if comma >= 0:
                        self._trailing(comma, character)
                    return start + 1
                if character not in "\"'" and not (character.isalpha() or character in "_$"):
                    at = self._stray(start)
                    continue
                scalar, key_end = self._key(start)
                after = self.skip(key_end)
                key = scalar
                if text[after : after + 1] == ":":
                    value_at = self.skip(after + 1)
                elif text[after : after + 1] in ",}]" or "\n" in text[key_end:after]:
                    self.report("json-syntax", f'a value is missing: "{key}": ...', start, key_end)
                    frame.members.append(Member(key, key_end - start, key_end - start, -1, None, sound=False))
                    frame.starts.append(start - base)
                    at, comma, needs_comma = key_end, -1, True
                    continue
                else:
                    self.report("json-syntax", f'a colon is missing after "{key}"', start, key_end)
                    value_at = after
            if needs_comma:
                self.report("json-syntax", "a comma is missing before this key", start, key_end)
            quick = SCALAR.match(text, value_at)
            if quick is not None:
                kind = quick.lastindex
                spelled = quick[kind or 1]
                value: JSONValue
                if kind == 1:
                    value, end = spelled, value_at + len(spelled) + 2
                else:
                    end = value_at + len(spelled)
                    value = int(spelled) if kind == 2 else WORDS[spelled] if kind == 4 else self._slow(value_at).value
                found = Value(value_at, end, value)
            else:
                value_at = self.skip(value_at)
                found = self._slow(value_at)
                if text[value_at : value_at + 1] == '"':
                    after = self.skip(found.end)
                    if text[after : after + 1] == ":":
                        found = Value(value_at, value_at, None, readable=False)
                if found.end == value_at:
                    self.report("json-syntax", f'a value is missing after "{key}":', start, key_end)
            length = found.end - found.start if found.readable else -1
            member = Member(key, key_end - start, found.start - start, length, found.value, found.node)
            member.sound = found.sound and found.readable
            frame.members.append(member)
            frame.starts.append(start - base)
            at, comma, needs_comma = found.end, -1, True
            following = NEXT.match(text, at)
            if following is not None:
                mark = following[1]
                if mark == ",":
                    comma, needs_comma, at = following.end() - 1, False, following.end()
                elif mark == "}":
                    return following.end()

    def _slow(self, at: int) -> Value:
        return self.value(at)

    def _key(self, start: int) -> tuple[str, int]:
        text = self.text
        if text[start] in "\"'":
            scalar = read_string(text, start, self.report)
            return str(scalar.value), scalar.end
        scalar = read_word(text, start, lambda *_: None)
        word = text[start : scalar.end]
        self.report("json-syntax", f'keys stand in double quotes: "{word}"', start, scalar.end)
        return word, scalar.end

    def _stray(self, at: int) -> int:
        """Steps over what cannot stand at a key's place."""
        if self.text[at] == ":":
            self.report("json-syntax", "a key is missing before this colon", at, at + 1)
            return at + 1
        end = max(self.value(at).end, at + 1)
        self.report("json-syntax", "a key was expected here", at, end)
        return end

    def _trailing(self, comma: int, closer: str) -> None:
        self.report("json-syntax", f"a trailing comma before {closer}, which JSON does not allow", comma, comma + 1)

    def _truncated(self, frame: Frame, at: int) -> None:
        closer = "}" if frame.kind == "object" else "]"
        self.report("json-syntax", f"the file ends before {closer}", max(at - 1, 0), at)

    def _array(self, frame: Frame, at: int) -> int:
        text = self.text
        needs_comma = False
        comma = -1
        base = frame.start
        while True:
            at = self.skip(at)
            character = text[at : at + 1]
            if not character:
                self._truncated(frame, at)
                return at
            if character == ",":
                if comma >= 0 or not frame.members:
                    self.report("json-syntax", "a comma too many", at, at + 1)
                comma, needs_comma, at = at, False, at + 1
                continue
            if character in "}]":
                if character == "}":
                    self.report("json-syntax", "] is missing: } does not close the [ before it", at, at + 1)
                if comma >= 0:
                    self._trailing(comma, character)
                return at + 1
            if character == ":":
                self.report("json-syntax", "a colon in a list", at, at + 1)
                at += 1
                continue
            if needs_comma:
                self.report("json-syntax", "a comma is missing", at, at + 1)
            found = self.value(at)
            frame.members.append(Member(None, 0, 0, found.end - at, found.value, found.node, found.readable))
            frame.starts.append(at - base)
            at, comma, needs_comma = max(found.end, at + 1), -1, True
