"""Document URIs and file paths. The client's own spelling of a URI is always sent back to it."""

from __future__ import annotations

import os
import re
from urllib.parse import quote, unquote, urlsplit

_DRIVE = re.compile(r"^/?([A-Za-z])(?::|%3[Aa])")


def to_path(uri: str) -> str | None:
    """The path of a ``file:`` URI, or None for any other scheme (untitled buffers, virtual workspaces).

    ``file:///c%3A/x`` and ``file:///C:/x`` give the same path; ``file://server/share`` gives a UNC path.
    """
    parts = urlsplit(uri.replace("#", "%23").replace("?", "%3F"))
    if parts.scheme != "file":
        return None
    path = unquote(parts.path)
    drive = _DRIVE.match(path)
    if drive:
        return f"{drive[1].upper()}:" + path[drive.end() :].replace("/", os.sep)
    if parts.netloc and parts.netloc != "localhost":
        return f"//{parts.netloc}{path}"
    return path


def from_path(path: str) -> str:
    """The ``file:`` URI of an absolute path."""
    path = path.replace("\\", "/")
    if not path.startswith("/"):
        path = "/" + path
    return "file://" + quote(path, safe="/~!$&'()*+,;=:@")


def key(uri: str) -> str:
    """A key under which two spellings of one URI meet."""
    path = to_path(uri)
    return uri if path is None else path


def scheme(uri: str) -> str:
    return uri.partition(":")[0] if ":" in uri else ""


def file_name(uri: str) -> str:
    """The last component, decoded ("config.json"); for an untitled buffer whatever its name ends with."""
    path = to_path(uri)
    return re.split(r"[/\\]", unquote(uri) if path is None else path)[-1].rpartition(":")[2]
