"""Diagnostics of files that are not open, where the settings ask for the whole workspace."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from lsprotocol import types

from neurarch_lsp.features.poll import never
from neurarch_lsp.lsp import uris
from neurarch_lsp.lsp.folders import FolderCache
from neurarch_lsp.lsp.open_documents import History, OpenDocument
from neurarch_lsp.lsp.requests import off_loop
from neurarch_schemas.documents.line_index import LineIndex

if TYPE_CHECKING:
    from neurarch_lsp.lsp.job import Analysed
    from neurarch_lsp.lsp.server import NeurarchServer
    from neurarch_lsp.lsp.session_settings import DocumentSettings

logger = logging.getLogger(__name__)

MAX_BYTES = 20_000_000
SECONDS_BEFORE_PROGRESS = 0.5

Stamp = tuple[int, int, int]
"""Modification time (ns), size, and the count of changes to settings or files."""


class WorkspaceScan:
    """Remembers what it found in each file until the file, a file beside it or a setting changes."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Stamp, Analysed]] = {}
        self._changed = asyncio.Event()
        self._generation = 0

    def changed(self) -> None:
        """Something that findings depend on has changed: wake those who wait."""
        self._generation += 1
        self._changed.set()
        self._changed = asyncio.Event()

    async def wait(self) -> None:
        """Until the next change."""
        await self._changed.wait()

    async def results(self, server: NeurarchServer) -> AsyncIterator[Analysed]:
        """What is found in the model files of those workspace folders whose settings ask for it, open ones left out."""
        progress = _Progress(server)
        try:
            for path, uri in await off_loop(server, _files, _folders(server)):
                if server.documents.get(uri) is not None:
                    continue
                analysed = await self._analysed(server, path, uri)
                if analysed is not None and analysed.analysis is not None:
                    yield analysed
                await progress.step(os.path.basename(os.path.dirname(path)))
        finally:
            progress.end()

    async def _analysed(self, server: NeurarchServer, path: str, uri: str) -> Analysed | None:
        try:
            status = os.stat(path)
        except OSError:
            return None
        stamp = (status.st_mtime_ns, status.st_size, self._generation)
        known = self._known.get(path)
        if known is not None and known[0] == stamp:
            return known[1]
        if status.st_size > MAX_BYTES:
            return None
        analysed = await off_loop(server, _analyse, path, uri, server.settings.of(uri), server)
        if analysed is not None:
            self._known[path] = (stamp, analysed)
        return analysed


def _analyse(path: str, uri: str, settings: DocumentSettings, server: NeurarchServer) -> Analysed | None:
    from neurarch_lsp.lsp.job import Job, run

    try:
        with open(path, "rb") as file:
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return None
    document = OpenDocument(uri, "json", 0, text, LineIndex(text), path, History(0))
    return run(Job(document, settings, server.client.name, {}, FolderCache(), server.interpreter), never)


def _folders(server: NeurarchServer) -> list[str]:
    folders = [folder.uri for folder in server.workspace.folders.values()]
    wanted = [uri for uri in folders if server.settings.of(uri).editor.diagnostic_mode == "workspace"]
    return [path for uri in wanted if (path := uris.to_path(uri)) is not None]


def _files(folders: list[str]) -> list[tuple[str, str]]:
    from neurarch_lsp.linting.inputs import walk
    from neurarch_rules.engine.analyse import is_candidate

    found = {os.path.abspath(item.path) for folder in folders for item in walk(folder, is_candidate)}
    return [(path, uris.from_path(path)) for path in sorted(found)]


class _Progress:
    """Work-done progress that appears only when the scan takes longer than half a second."""

    def __init__(self, server: NeurarchServer) -> None:
        self._server = server
        self._started = time.monotonic()
        self._token: str | None = None
        self._count = 0

    async def step(self, name: str) -> None:
        self._count += 1
        if not self._server.client.work_done_progress:
            return
        if self._token is None and time.monotonic() - self._started > SECONDS_BEFORE_PROGRESS:
            token = f"neurarch-scan-{id(self)}"
            await self._server.work_done_progress.create_async(token)
            self._server.work_done_progress.begin(token, types.WorkDoneProgressBegin(title="Checking model files"))
            self._token = token
        elif self._token is not None and self._count % 20 == 0:
            message = f"{self._count} files, {name}"
            self._server.work_done_progress.report(self._token, types.WorkDoneProgressReport(message=message))

    def end(self) -> None:
        if self._token is not None:
            self._server.work_done_progress.end(self._token, types.WorkDoneProgressEnd(message=f"{self._count} files"))
