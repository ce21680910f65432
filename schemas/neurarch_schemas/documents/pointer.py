"""JSON pointers (RFC 6901)."""

from __future__ import annotations


def join_pointer(pointer: str, *keys: str | int) -> str:
    """The pointer of a member: ``join_pointer("/a", "b/c", 0) == "/a/b~1c/0"``."""
    for key in keys:
        if isinstance(key, str) and ("~" in key or "/" in key):
            key = key.replace("~", "~0").replace("/", "~1")
        pointer = f"{pointer}/{key}"
    return pointer


def split_pointer(pointer: str) -> tuple[str, ...]:
    """The keys of a pointer, unescaped; "" is the document itself."""
    if not pointer:
        return ()
    parts = pointer.split("/")[1:]
    if "~" not in pointer:
        return tuple(parts)
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in parts)


def parent_pointer(pointer: str) -> str:
    """The enclosing value; the document's parent is the document."""
    return pointer.rpartition("/")[0]
