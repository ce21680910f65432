"""Which files a command line means: files as given, folders walked, git-ignored files left out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import NamedTuple

SKIPPED_FOLDERS = frozenset({".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", ".tox", ".mypy_cache"})


class Input(NamedTuple):
    """``name`` is how the file is shown (as given, or the given folder joined with the relative path)."""

    name: str
    path: str
    given: bool
    """Named on the command line, not met while walking a folder."""


class MissingPath(Exception):
    """A path on the command line that does not exist."""


def expand(paths: list[str], is_candidate: Callable[[str], bool]) -> Iterator[Input]:
    """The inputs in the order given, a folder's files sorted; a file met twice is given once.

    ``is_candidate`` says by name which files of a folder are worth opening. Raises MissingPath.
    """
    seen: set[str] = set()
    for path in paths:
        if path == "-":
            yield Input("-", "-", True)
            continue
        if os.path.isdir(path):
            found: Iterator[Input] = walk(path, is_candidate)
        elif os.path.exists(path):
            found = iter((Input(path, path, True),))
        else:
            raise MissingPath(path)
        for item in found:
            real = os.path.abspath(item.path)
            if real not in seen:
                seen.add(real)
                yield item


def walk(folder: str, is_candidate: Callable[[str], bool]) -> Iterator[Input]:
    """Candidate files below a folder, sorted by path; symbolic links to folders are not followed."""
    shown = folder.replace(os.sep, "/").rstrip("/")
    shown = shown if shown or not folder.startswith("/") else "/"
    prefix = shown if shown.endswith("/") else shown + "/"
    yield from _walk(folder, prefix, is_candidate, _rules_above(folder))


def _walk(folder: str, prefix: str, is_candidate: Callable[[str], bool], ignores: _Ignores) -> Iterator[Input]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    if any(entry.name == ".gitignore" for entry in entries):
        ignores = ignores.with_file(folder)
    for entry in entries:
        try:
            is_folder = entry.is_dir(follow_symlinks=False)
            is_file = not is_folder and entry.is_file()
        except OSError:
            continue
        if is_folder:
            if entry.name not in SKIPPED_FOLDERS and not ignores.ignores(entry.path, True):
                yield from _walk(entry.path, f"{prefix}{entry.name}/", is_candidate, ignores)
        elif is_file and is_candidate(entry.name) and not ignores.ignores(entry.path, False):
            yield Input(prefix + entry.name, entry.path, False)


class _Ignores(NamedTuple):
    """The .gitignore files that apply to a folder, outermost first."""

    specs: tuple[tuple[str, object], ...] = ()

    def with_file(self, folder: str) -> _Ignores:
        spec = _read_spec(os.path.join(folder, ".gitignore"))
        return self if spec is None else _Ignores((*self.specs, (os.path.abspath(folder), spec)))

    def ignores(self, path: str, is_folder: bool) -> bool:
        if not self.specs:
            return False
        absolute = os.path.abspath(path)
        answer = False
        for root, spec in self.specs:
            relative = os.path.relpath(absolute, root).replace(os.sep, "/") + ("/" if is_folder else "")
            verdict = spec.check_file(relative).include  # type: ignore[attr-defined]  # a pathspec GitIgnoreSpec
            if verdict is not None:
                answer = bool(verdict)
        return answer


def _read_spec(path: str) -> object | None:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines()
    except OSError:
        return None
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines(lines)


def _rules_above(folder: str) -> _Ignores:
    """The .gitignore files between the repository's root and the folder (exclusive)."""
    chain: list[str] = []
    current = os.path.abspath(folder)
    while True:
        if os.path.exists(os.path.join(current, ".git")):
            break
        parent = os.path.dirname(current)
        if parent == current:
            return _Ignores()
        chain.append(parent)
        current = parent
    ignores = _Ignores()
    for above in reversed(chain):
        if os.path.exists(os.path.join(above, ".gitignore")):
            ignores = ignores.with_file(above)
    return ignores
