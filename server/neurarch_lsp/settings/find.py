"""The settings file nearest to a document: neurarch-lsp.toml, or a pyproject.toml with ``[tool.neurarch-lsp]``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

NAMES = ("neurarch-lsp.toml", ".neurarch-lsp.toml", "pyproject.toml")
MAX_BYTES = 4_000_000


class SettingsFile(NamedTuple):
    """``root`` is the folder that globs are relative to; ``data`` the settings table as TOML gives it."""

    path: str
    root: str
    data: Mapping[str, Any]


class SettingsError(Exception):
    """A settings file that cannot be used; ``str(error)`` says which, where and why."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = path
        self.message = message


def nearest(folder: str, known: dict[str, SettingsFile | None] | None = None) -> SettingsFile | None:
    """The settings for documents in ``folder`` (absolute). ``known`` remembers folders during one run.

    Raises SettingsError for a file that is not valid TOML.
    """
    known = {} if known is None else known
    visited: list[str] = []
    found: SettingsFile | None = None
    current = folder
    while True:
        if current in known:
            found = known[current]
            break
        visited.append(current)
        found = in_folder(current)
        parent = os.path.dirname(current)
        if found is not None or parent == current:
            break
        current = parent
    known.update(dict.fromkeys(visited, found))
    return found


def in_folder(folder: str) -> SettingsFile | None:
    for name in NAMES:
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            found = read(path)
            if found is not None:
                return found
    return None


def read(path: str) -> SettingsFile | None:
    """A settings file by path; None for a pyproject.toml (or any TOML with a tool table) without our table."""
    try:
        with open(path, "rb") as file:
            content = file.read(MAX_BYTES)
    except OSError as error:
        raise SettingsError(path, error.strerror or str(error)) from error
    is_project = os.path.basename(path) == "pyproject.toml"
    if is_project and b"neurarch-lsp" not in content:
        return None
    import tomllib

    try:
        data = tomllib.loads(content.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(path, f"not valid TOML: {error}") from error
    if is_project:
        tool = data.get("tool")
        table = tool.get("neurarch-lsp") if isinstance(tool, dict) else None
        if table is None:
            return None
        data = table
    if not isinstance(data, dict):
        raise SettingsError(path, "[tool.neurarch-lsp] must be a table")
    return SettingsFile(path, os.path.dirname(os.path.abspath(path)), data)
