"""Globs of settings files: ``*`` within a name, ``**`` across folders, a bare name at any depth."""

from __future__ import annotations

import re
from functools import lru_cache


def matches(pattern: str, path: str) -> bool:
    """Whether a ``/``-separated path relative to the settings file's folder matches; a folder covers what is in it."""
    return _compiled(pattern).match(path) is not None


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    anchored = pattern.removeprefix("./").strip("/")
    prefix = "" if "/" in anchored or pattern.startswith("/") else "(?:.*/)?"
    return re.compile(prefix + _translate(anchored) + r"(?:/.*)?\Z", re.DOTALL)


def _translate(pattern: str) -> str:
    pieces = re.split(r"(\*\*/|\*\*|\*|\?|\[[^\]]+\])", pattern)
    return "".join(map(_piece, pieces))


def _piece(piece: str) -> str:
    if piece == "**/":
        return "(?:.*/)?"
    if piece == "**":
        return ".*"
    if piece == "*":
        return "[^/]*"
    if piece == "?":
        return "[^/]"
    if piece.startswith("[") and piece.endswith("]"):
        return "[" + piece[1:-1].replace("!", "^", 1) + "]"
    return re.escape(piece)
