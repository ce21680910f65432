"""Python files around a document, as texts: those open in the editor as they stand there, the others from the disk."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from neurarch_lsp.lsp import uris

if TYPE_CHECKING:
    from neurarch_lsp.lsp.server import NeurarchServer

MAX_BYTES = 4_000_000
MAX_BESIDE = 200
MAX_IN_WORKSPACE = 2_000
SKIPPED = frozenset(("node_modules", "__pycache__", "site-packages", "build", "dist"))


@dataclass(frozen=True, slots=True)
class PythonTexts:
    """``opened`` are the texts of open documents by path, ``roots`` the workspace folders."""

    opened: Mapping[str, str]
    roots: tuple[str, ...]

    def read(self, path: str) -> str:
        if path in self.opened:
            return self.opened[path]
        try:
            with open(path, "rb") as file:
                return file.read(MAX_BYTES).decode("utf-8", "replace")
        except OSError:
            return ""

    def beside(self, folder: str | None) -> list[str]:
        """Paths of the Python files of a folder, those of models and their configs first."""
        try:
            names = sorted(os.listdir(folder)) if folder else []
        except OSError:
            return []
        found = [name for name in names if name.endswith(".py")]
        found.sort(key=lambda name: not name.startswith(("configuration_", "modeling_")))
        return [os.path.join(folder or "", name) for name in found[:MAX_BESIDE]]

    def mentioning(self, words: tuple[str, ...]) -> Iterator[tuple[str, str]]:
        """Path and text of the workspace's Python files that hold one of the words; hidden folders are left out."""
        number = 0
        for root in self.roots:
            for folder, folders, names in os.walk(root):
                folders[:] = sorted(each for each in folders if each not in SKIPPED and not each.startswith("."))
                for name in sorted(names):
                    if not name.endswith(".py"):
                        continue
                    number += 1
                    if number > MAX_IN_WORKSPACE:
                        return
                    path = os.path.join(folder, name)
                    text = self.read(path)
                    if any(word in text for word in words):
                        yield path, text


def python_texts(server: NeurarchServer) -> PythonTexts:
    """Taken on the event loop, read off it."""
    opened = {document.path: document.text for document in server.documents if document.path is not None}
    folders = [uris.to_path(folder.uri) for folder in server.workspace.folders.values()]
    return PythonTexts(opened, tuple(folder for folder in folders if folder is not None))
