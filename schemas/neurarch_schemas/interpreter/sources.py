"""Source files as text and syntax trees: the only room of the interpreter that reads the disk."""

from __future__ import annotations

import ast
import gc
import os
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from neurarch_schemas.interpreter import lazy_functions

LARGEST_FILE = 4_000_000

_COLLECTIONS = gc.get_threshold()
_RARE_COLLECTIONS = (100_000, 50, 1_000)


@contextmanager
def rare_collections() -> Iterator[None]:
    """Syntax trees are many objects without cycles: walking them again and again takes longer than parsing does."""
    gc.set_threshold(*_RARE_COLLECTIONS)
    try:
        yield
    finally:
        gc.set_threshold(*_COLLECTIONS)


class SourceCache:
    """Parsed files by content, kept by the caller across interpretations. Holds at most ``limit`` trees."""

    def __init__(self, limit: int = 3000) -> None:
        self._limit = limit
        self._trees: dict[tuple[str, bool], ast.Module | SyntaxError] = {}
        self._texts: dict[str, tuple[tuple[float, int], str]] = {}

    def tree(self, text: str, lazily: bool = False) -> ast.Module:
        """``lazily`` leaves functions unread until they are looked at. Raises SyntaxError."""
        known = self._trees.get((text, False))
        if known is None and lazily:
            known = self._trees.get((text, True))
        if known is None:
            known = _parse(text, lazily)
            if len(self._trees) >= self._limit:
                self._trees.pop(next(iter(self._trees)))
            self._trees[text, lazily] = known
        if isinstance(known, SyntaxError):
            raise known
        return known

    def forget(self, text: str) -> None:
        """Drop the tree of a text that has been edited and will not come again."""
        self._trees.pop((text, False), None)
        self._trees.pop((text, True), None)

    def text(self, path: str) -> str | None:
        """None where there is no such file, or it is too large or not text."""
        try:
            status = os.stat(path)
            stamp = (status.st_mtime, status.st_size)
            known = self._texts.get(path)
            if known is not None and known[0] == stamp:
                return known[1]
            if status.st_size > LARGEST_FILE:
                return None
            with open(path, encoding="utf-8", errors="replace") as stream:
                text = stream.read().removeprefix("\ufeff")
        except (OSError, ValueError):
            return None
        if len(self._texts) >= self._limit:
            self._texts.pop(next(iter(self._texts)))
        self._texts[path] = (stamp, text)
        return text


def _parse(text: str, lazily: bool) -> ast.Module | SyntaxError:
    try:
        with warnings.catch_warnings(), rare_collections():
            warnings.simplefilter("ignore")
            return lazy_functions.parse(text) if lazily else ast.parse(text)
    except SyntaxError as error:
        return error
    except (RecursionError, MemoryError, ValueError) as error:
        return SyntaxError(f"the file cannot be parsed ({type(error).__name__})")


@dataclass
class Sources:
    """Where modules are looked for, in order; ``overlay`` are unsaved texts by path."""

    search_paths: tuple[str, ...]
    cache: SourceCache
    overlay: dict[str, str] = field(default_factory=dict)
    project: tuple[str, ...] = ()
    """The first of the search paths: the file's own import root and the folders above it."""
    seconds: float = 0.0
    """Time spent reading and parsing so far."""
    _listings: dict[str, frozenset[str]] = field(default_factory=dict)

    def text(self, path: str) -> str | None:
        found = self.overlay.get(path)
        return found if found is not None else self.cache.text(path)

    def tree(self, path: str) -> ast.Module | None:
        """None where the file is missing. Raises SyntaxError."""
        started = time.thread_time()
        try:
            text = self.text(path)
            return None if text is None else self.cache.tree(text, lazily=path not in self.overlay)
        finally:
            self.seconds += time.thread_time() - started

    def find(self, name: str) -> tuple[str | None, bool] | None:
        """The file of a module and whether it is a package; (None, True) for a namespace package.

        As in Python, a folder without ``__init__.py`` serves only where no search path has a module of that name.
        """
        relative = name.split(".")
        namespace = None
        for root in self.search_paths:
            found = self._find_in(root, relative)
            if found is not None and found[0] is not None:
                return found
            namespace = namespace or found
        return namespace

    def in_project(self, name: str) -> bool:
        """Whether a top-level module is the project's own, not one of an environment (which lists what it holds)."""
        return any(
            self._find_in(root, [name]) is not None and not any(".dist-info" in entry for entry in self._listing(root))
            for root in self.project
        )

    def _find_in(self, root: str, parts: list[str]) -> tuple[str | None, bool] | None:
        folder = root
        for part in parts[:-1]:
            if part not in self._listing(folder):
                return None
            folder = os.path.join(folder, part)
        listing = self._listing(folder)
        last = parts[-1]
        path = os.path.join(folder, last)
        if last in listing:
            inside = self._listing(path)
            if "__init__.py" in inside:
                return os.path.join(path, "__init__.py"), True
        if f"{last}.py" in listing:
            return path + ".py", False
        if last in listing and any(name.endswith(".py") or "." not in name for name in self._listing(path)):
            return None, True
        return None

    def _listing(self, folder: str) -> frozenset[str]:
        known = self._listings.get(folder)
        if known is None:
            try:
                known = frozenset(os.listdir(folder))
            except OSError:
                known = frozenset()
            self._listings[folder] = known
        return known

    def inside(self, path: str) -> bool:
        """Whether a path lies below a search path."""
        path = os.path.normpath(path)
        return any(path == root or path.startswith(root.rstrip("/") + "/") for root in self.search_paths)

    def is_file(self, path: str) -> bool:
        """Whether there is such a file below the search paths."""
        path = os.path.normpath(path)
        return os.path.isabs(path) and self.inside(path) and os.path.isfile(path)

    def entries(self, path: str) -> list[str] | None:
        """The names in a folder below the search paths, sorted; None where there is no such folder."""
        path = os.path.normpath(path)
        if not (os.path.isabs(path) and self.inside(path) and os.path.isdir(path)):
            return None
        return sorted(self._listing(path))

    def readable(self, path: str) -> str | None:
        """The text of a data file a program may read: below the search paths only."""
        return self.text(os.path.normpath(path)) if self.inside(path) and os.path.isabs(path) else None

    def version(self, distribution: str) -> str | None:
        """The version of an installed distribution, from the name of its metadata folder."""
        wanted = distribution.lower().replace("-", "_").replace(".", "_")
        for root in self.search_paths:
            for entry in self._listing(root):
                if entry.endswith(".dist-info"):
                    name, _, version = entry.removesuffix(".dist-info").rpartition("-")
                    if name.lower().replace(".", "_") == wanted:
                        return version
        return None
