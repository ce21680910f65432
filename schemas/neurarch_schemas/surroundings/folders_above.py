"""The folders between documents and the roots of their repositories, which many documents of one run share."""

from __future__ import annotations

import os

_PARENTS = 12
"""How many folders upwards a repository's root is looked for."""


class FoldersAbove:
    """Looks at each folder once and remembers; lives as long as one run over many files, or one snapshot."""

    def __init__(self) -> None:
        self._is_root: dict[str, bool] = {}
        self._held: dict[str, tuple[str, ...]] = {}
        self.stated: dict[str, tuple[tuple[str, str], ...]] = {}
        """By the path of a requirements file, the libraries and versions it states."""

    def files(self, folder: str, names: tuple[str, ...]) -> tuple[str, ...]:
        """Paths of the files of these names above ``folder``, up to the one that holds .git, the nearest folder first.

        ``names`` must be the same in all calls. () outside a repository.
        """
        folder = os.path.abspath(folder)
        above: list[str] = []
        for _ in range(_PARENTS):
            if self._holds_repository(folder):
                return tuple(path for each in above for path in self._files_in(each, names))
            parent = os.path.dirname(folder)
            if parent == folder:
                break
            folder = parent
            above.append(folder)
        return ()

    def _holds_repository(self, folder: str) -> bool:
        known = self._is_root.get(folder)
        if known is None:
            known = self._is_root[folder] = os.path.exists(os.path.join(folder, ".git"))
        return known

    def _files_in(self, folder: str, names: tuple[str, ...]) -> tuple[str, ...]:
        known = self._held.get(folder)
        if known is None:
            paths = [os.path.join(folder, name) for name in names]
            known = self._held[folder] = tuple(path.replace(os.sep, "/") for path in paths if os.path.isfile(path))
        return known
