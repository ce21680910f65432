"""From a text to the tree of its objects and lists, by the fastest way that its damage allows."""

from __future__ import annotations

from neurarch_schemas.documents.nodes import Member, Node
from neurarch_schemas.documents.strict import (
    MAX_DEPTH,
    SPACE,
    STRICT_ERRORS,
    pairs_within,
    sound_scanner,
    strict_scanner,
)


def read(text: str, comments_allowed: bool = False) -> Node:
    """A list whose only member is the document's value; it has none where nothing can be read."""
    sound = _sound(text)
    if sound is not None:
        return sound
    # Most files are sound, and a command that reads them starts sooner without the other reader.
    from neurarch_schemas.documents.tolerant import read_tolerantly

    return read_tolerantly(text, comments_allowed)


def _sound(text: str) -> Node | None:
    """The tree of a text that is JSON and gives nothing to report."""
    begin = SPACE.match(text)
    start = 0 if begin is None else begin.end()
    try:
        value, end = sound_scanner()(text, start)
        pairs = pairs_within(value, MAX_DEPTH)
        if pairs is None:
            return None
        # As many pairs as colons, so no key was written twice; a colon in a string leaves it open.
        if pairs != text.count(":"):
            value, end = strict_scanner()(text, start)
    except STRICT_ERRORS:
        return None
    behind = SPACE.match(text, end)
    if behind is None or behind.end() != len(text):
        return None
    root = Node("array", len(text), [value])
    root.members = [Member(None, 0, 0, end - start, value)]
    root.starts = [start]
    return root
