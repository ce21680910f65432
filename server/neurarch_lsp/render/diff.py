"""A unified diff of what fixes would change."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import unified_diff


def unified(name: str, before: str, after: str) -> str:
    return "".join(_lines(unified_diff(_split(before), _split(after), f"a/{name}", f"b/{name}")))


def _split(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def _lines(diff: Iterator[str]) -> Iterator[str]:
    for line in diff:
        yield line if line.endswith("\n") else line + "\n\\ No newline at end of file\n"
