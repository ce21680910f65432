"""Expected findings written beside the code: ``// warning: [rule-name] "part of the message"``.

The comment stands at the end of the line it is about, or alone on the line above. It is taken out before the file is
linted; other comments stay, since a file may be about comments. Python files use ``#`` instead of ``//``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

PATTERN = re.compile(
    r'\s*(?://|\#)\s*(?P<severity>error|warning|info|hint):\s*\[(?P<rule>[\w-]+)\](?:\s*"(?P<message>(?:[^"\\]|\\.)*)")?'
)


@dataclass(frozen=True, slots=True)
class Expected:
    """``line`` is zero-based in the text without the assertion comments."""

    severity: str
    rule: str
    message: str
    line: int


def extract(text: str) -> tuple[str, tuple[Expected, ...]]:
    """The text without assertion comments, and what they expect."""
    kept: list[str] = []
    expected: list[Expected] = []
    for line in text.splitlines(keepends=True):
        matches = list(PATTERN.finditer(line))
        if not matches:
            kept.append(line)
            continue
        rest = line[: matches[0].start()]
        ending = line[len(line.rstrip("\r\n")) :]
        expected += (
            Expected(match["severity"], match["rule"], (match["message"] or "").replace('\\"', '"'), len(kept))
            for match in matches
        )
        if rest.strip():
            kept.append(rest + ending)
    return "".join(kept), tuple(expected)
