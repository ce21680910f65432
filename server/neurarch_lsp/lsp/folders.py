"""Snapshots of the folders around documents, kept while nothing in them changes."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from neurarch_schemas.surroundings.folder import Folder

if TYPE_CHECKING:
    from neurarch_schemas.documents.json_value import JSONValue

SECONDS_UNTIL_LOOK = 2.0
"""A folder is looked at again after this long: not every client watches files."""

Key = tuple[str, str]


@dataclass(slots=True)
class _Known:
    folder: Folder
    looked: float


class FolderCache:
    """Used on worker threads. What a snapshot has read (tokenizer, weight headers) stays while its key is equal."""

    def __init__(self) -> None:
        self._known: dict[Key, _Known] = {}
        self._lock = threading.Lock()

    def get(self, path: str | None, data: JSONValue) -> Folder:
        """The folder of the document at ``path``, whose value is ``data``; an empty one without a path."""
        if path is None:
            return Folder()
        from neurarch_schemas.surroundings.read import read_folder

        base = data.get("base_model_name_or_path") if isinstance(data, dict) else None
        key = (os.path.dirname(path), base if isinstance(base, str) else "")
        now = time.monotonic()
        with self._lock:
            known = self._known.get(key)
            if known is not None and now - known.looked < SECONDS_UNTIL_LOOK:
                return known.folder
        fresh = read_folder(path, data)
        state = fresh.key  # before any part of it is read
        with self._lock:
            if known is not None and known.folder.key == state:
                fresh = known.folder
            self._known[key] = _Known(fresh, now)
        return fresh

    def changed(self, folders: set[str] | None = None) -> None:
        """Look again at these folders (all) when they are next asked for."""
        with self._lock:
            for key, known in self._known.items():
                if folders is None or key[0] in folders:
                    known.looked = float("-inf")

    def forget_unused(self, used: set[str]) -> None:
        """Drop the folders in which no document is open any more."""
        with self._lock:
            for key in [key for key in self._known if key[0] not in used]:
                del self._known[key]
