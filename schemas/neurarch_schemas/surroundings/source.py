"""Where the files beside a document come from: the disk, or texts at hand."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from typing import Protocol

from neurarch_schemas.surroundings.folders_above import FoldersAbove

MAX_NAMES = 10_000
"""A folder with more entries is no model repository; its listing counts as unknown."""


class Source(Protocol):
    """Reads files by their name relative to the document's folder (``/`` separated). Nothing here raises."""

    def names(self) -> frozenset[str] | None:
        """The files beside the document; None: unknown."""

    def above(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Files of these names in the folders above the document's, up to the repository's root, nearest first."""

    def stamp(self, name: str) -> str | None:
        """Changes when the file changes; None: there is no such file."""

    def size(self, name: str) -> int | None:
        """Bytes; None: there is no such file."""

    def read(self, name: str, limit: int, start: int = 0) -> bytes | None:
        """At most ``limit`` bytes from ``start`` on; None for a file that cannot be read."""


class Disk:
    """The folder at ``path``. Only regular files are opened."""

    def __init__(self, path: str, folders_above: FoldersAbove) -> None:
        self.path = path or "."
        self.folders_above = folders_above

    def names(self) -> frozenset[str] | None:
        try:
            with os.scandir(self.path) as entries:
                found = []
                for entry in entries:
                    if not entry.is_dir():
                        found.append(entry.name)
                    if len(found) > MAX_NAMES:
                        return None
        except (OSError, ValueError):
            return None
        return frozenset(found)

    def above(self, names: tuple[str, ...]) -> tuple[str, ...]:
        return self.folders_above.files(self.path, names)

    def stamp(self, name: str) -> str | None:
        found = self._stat(name)
        return None if found is None else f"{found.st_size}:{found.st_mtime_ns}:{found.st_ino}"

    def size(self, name: str) -> int | None:
        found = self._stat(name)
        return None if found is None else found.st_size

    def read(self, name: str, limit: int, start: int = 0) -> bytes | None:
        if self._stat(name) is None:
            return None
        try:
            with open(self._place(name), "rb") as file:
                file.seek(start)
                return file.read(limit)
        except (OSError, ValueError, OverflowError):
            return None

    def _place(self, name: str) -> str:
        return os.path.join(self.path, *name.split("/")) if not os.path.isabs(name) else name

    def _stat(self, name: str) -> os.stat_result | None:
        try:
            found = os.stat(self._place(name))
        except (OSError, ValueError):
            return None
        return found if stat.S_ISREG(found.st_mode) else None


class Texts:
    """Files by name, as a test or a test case gives them; those only in ``listing`` are empty."""

    def __init__(self, files: Mapping[str, str | bytes], listing: frozenset[str] | None = None) -> None:
        self.files = {name: text.encode() if isinstance(text, str) else text for name, text in files.items()}
        self.listing = listing

    def names(self) -> frozenset[str] | None:
        return (self.listing or frozenset()) | self.files.keys()

    def above(self, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(path for up in ("../", "../../") for name in names if (path := up + name) in self.files)

    def stamp(self, name: str) -> str | None:
        data = self.files.get(name)
        return None if data is None else f"{len(data)}:{hash(data)}"

    def size(self, name: str) -> int | None:
        data = self.files.get(name)
        return None if data is None else len(data)

    def read(self, name: str, limit: int, start: int = 0) -> bytes | None:
        data = self.files.get(name)
        return None if data is None else data[start : start + limit]
