"""The ground the tolerant reader stands on: the text, the containers it is in, the problems found."""

from __future__ import annotations

from neurarch_schemas.documents import layout
from neurarch_schemas.documents.document import SyntaxRule
from neurarch_schemas.documents.frames import Frame
from neurarch_schemas.documents.nodes import NOT_READ, RawProblem
from neurarch_schemas.documents.scanner import CONFLICT
from neurarch_schemas.documents.strict import SPACE, strict_scanner

LARGE = 65_536
"""Code points. Larger containers are read member by member, so that an edit later finds their members' places."""
_INVISIBLE = "\u00a0\ufeff\u200b\u2028\u2029\u0085\x0b\x0c\u3000\u2003"


MAX_REPAIRS = 1_000
"""After so many syntax problems a large text is not read on: it is something else, and who edits it waits."""
MAX_STEPS = 100_000
"""So many tokens that are not plain pairs are read of a large damaged text."""
MAX_COMMENTS = 1_000
"""So many comments of a large text are reported; the others are skipped in silence."""


class Unbalanced(Exception):
    """The brackets do not match."""


class Exhausted(Exception):
    """The text holds more damage than is repaired; ``at`` is where reading ends."""

    def __init__(self, at: int) -> None:
        super().__init__(at)
        self.at = at


class Reporting:
    """``frames`` holds the containers around the place being read, the document itself first."""

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
        self.reported = 0
        """Syntax problems so far."""
        self.comments = 0
        self.comments_end = True
        """There may be a ``*/`` further on."""
        self.steps = 0
        """Tokens, or spaces between tokens, that were looked at."""
        self.stopped = False
        """The text is not read to its end."""

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
        if rule == "json-syntax":
            self.reported += 1
            if self.reported >= MAX_REPAIRS and self.is_large:
                raise Exhausted(start)

    def not_read(self, frame: Frame, at: int) -> None:
        """Reports that reading ends at ``at``, in ``frame``."""
        self.stopped = True
        at = max(at, frame.end_of_members)
        start = min(at, max(len(self.text) - 1, 0)) - frame.start
        frame.problems.append(RawProblem("json-syntax", NOT_READ, start, start + 1, structural=True))

    def structural(self, message: str, start: int, end: int, related: tuple[int, int] | None = None) -> None:
        """Reports brackets that do not match. Raises Unbalanced while brackets are trusted."""
        if not self.by_layout:
            raise Unbalanced
        self._add("json-syntax", message, start, end, related=related, structural=True)

    def skip(self, at: int) -> int:
        """Behind white space, comments and conflict markers."""
        text = self.text
        while True:
            self.steps += 1
            if self.steps > MAX_STEPS and self.is_large:
                raise Exhausted(at)
            if self.comments > MAX_COMMENTS and self.is_large:
                at = layout.skip_trivia(text, at)
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
            close = text.find("*/", at + 2) if self.comments_end else -1
            self.comments_end = close >= 0
            if close >= 0:
                end = close + 2
            else:
                self.report("json-syntax", "this comment is not closed: */ is missing", at, end, open_ended=True)
                return end
        elif not text.startswith("//", at) and text[at] != "#":
            return at
        if not self.comments_allowed or text[at] == "#":
            self.comments += 1
            if self.comments <= MAX_COMMENTS or not self.is_large:
                self.report("json-comment", "JSON has no comments: strict parsers refuse this file", at, end)
        return end


def line_end_of(text: str, at: int) -> int:
    """Where the line of ``at`` ends."""
    newline = text.find("\n", at)
    back = text.find("\r", at, newline if newline >= 0 else len(text))
    return back if back >= 0 else newline if newline >= 0 else len(text)
