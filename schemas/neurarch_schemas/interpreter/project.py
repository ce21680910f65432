"""Where the project around a file begins: scripts are run from there, so imports start there too."""

from __future__ import annotations

import os

_MARKS = frozenset(
    (
        ".git",
        ".hg",
        "LICENSE",
        "README",
        "README.md",
        "README.rst",
        "environment.yml",
        "pyproject.toml",
        "requirements.txt",
        "setup.cfg",
        "setup.py",
    )
)
"""A folder that holds one of these is the top of a project."""
_MOST_ABOVE = 6
_ABOVE_UNMARKED = 4
"""Folders looked into where none is marked."""
_INSTALLED = frozenset(("site-packages", "dist-packages"))


def folders_above(root: str) -> tuple[str, ...]:
    """The folders above an import root, nearest first, up to the project's top.

    Research code keeps its models in folders without ``__init__.py`` and imports them from the top
    (``from models.blocks import Block`` in ``models/vit.py``).
    """
    above: list[str] = []
    folder = root
    while len(above) < _MOST_ABOVE:
        if _is_top(folder) or os.path.basename(folder) in _INSTALLED:
            return tuple(above)
        folder = os.path.dirname(folder)
        if _is_shared(folder):
            break
        above.append(folder)
    return tuple(above[:_ABOVE_UNMARKED])


def _is_shared(folder: str) -> bool:
    """Whether many projects may lie in a folder: a home, ``/tmp``, the root of a disk."""
    parent = os.path.dirname(folder)
    return folder == os.path.expanduser("~") or parent in (folder, os.path.dirname(parent))


def _is_top(folder: str) -> bool:
    try:
        return not _MARKS.isdisjoint(os.listdir(folder))
    except OSError:
        return True
