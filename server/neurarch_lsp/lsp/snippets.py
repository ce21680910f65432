"""Snippets for clients that have none."""

from __future__ import annotations

import re

_CHOICE = re.compile(r"\$\{\d+\|([^,|]*)[^}]*\|\}")
_NAMED = re.compile(r"\$\{\d+:((?:\\.|[^}\\])*)\}")
_BARE = re.compile(r"(?<!\\)\$(?:\d+|\{\d+\})")


def plain_text(snippet: str) -> str:
    """The snippet with every placeholder replaced by its first choice or default."""
    text = _CHOICE.sub(lambda match: match[1], snippet)
    text = _NAMED.sub(lambda match: match[1], text)
    text = _BARE.sub("", text)
    return re.sub(r"\\([$}\\])", r"\1", text)
