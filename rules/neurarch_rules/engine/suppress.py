"""Findings the user has said are fine: settings entries by rule and JSON pointer, comments in Python."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.options import Ignore

if TYPE_CHECKING:
    from neurarch_schemas.documents.document import Span

COMMENT = re.compile(r"#\s*neurarch:\s*(file-)?ignore\[([^\]\n]*)\]")


class Comment(NamedTuple):
    """``# neurarch: ignore[rule, rule] reason`` holds for its line (a line of its own: the next one);
    ``file-ignore`` for the file."""

    span: Span
    rules: tuple[str, ...]
    lines: tuple[int, ...]
    """Zero-based lines it covers; empty: the whole file."""


def comments(text: str) -> tuple[Comment, ...]:
    """The suppression comments of a Python source. A match inside a string literal counts too: it does no harm."""
    if "neurarch:" not in text:
        return ()
    found: list[Comment] = []
    offset = 0
    for number, line in enumerate(re.split(r"(?<=\n)", text)):
        for match in COMMENT.finditer(line):
            rules = tuple(name.strip() for name in match[2].split(",") if name.strip())
            alone = not line[: match.start()].strip()
            lines = () if match[1] else ((number, number + 1) if alone else (number,))
            found.append(Comment((offset + match.start(), offset + match.end()), rules, lines))
        offset += len(line)
    return tuple(found)


def ignored_by(finding: Finding, ignores: tuple[Ignore, ...], aliases: tuple[str, ...]) -> Ignore | None:
    """The first settings entry that covers a finding."""
    for entry in ignores:
        if entry.rules and not ({finding.rule, finding.category, "all", *aliases} & set(entry.rules)):
            continue
        if entry.pointer is None or covers(entry.pointer, finding.place.pointer):
            return entry
    return None


def covers(pointer: str, place: str | None) -> bool:
    """Whether a place is the pointer or lies below it."""
    return place is not None and (place == pointer or pointer == "" or place.startswith(pointer + "/"))


def commented_out(
    finding: Finding, first_line: int, found: tuple[Comment, ...], aliases: tuple[str, ...]
) -> Comment | None:
    for comment in found:
        if (not comment.lines or first_line in comment.lines) and {finding.rule, *aliases} & set(comment.rules):
            return comment
    return None
