"""``workspace/didChangeWatchedFiles``: a burst of changes leads to one new look at the open documents."""

from __future__ import annotations

import asyncio

from lsprotocol import types

from neurarch_lsp.lsp import publisher
from neurarch_lsp.lsp.server import NeurarchServer

SECONDS_OF_QUIET = 0.05
"""A checkout changes hundreds of files: wait until none has come for this long."""


def handle(server: NeurarchServer, params: types.DidChangeWatchedFilesParams) -> None:
    server.changed_files.update(change.uri for change in params.changes)
    if server.reload_timer is not None:
        server.reload_timer.cancel()
    loop = asyncio.get_running_loop()
    server.reload_timer = loop.call_later(SECONDS_OF_QUIET, _look_again, server)


def _look_again(server: NeurarchServer) -> None:
    changed = frozenset(server.changed_files)
    server.changed_files.clear()
    server.reload_timer = None
    publisher.files_changed(server, changed)
