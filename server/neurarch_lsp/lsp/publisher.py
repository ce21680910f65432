"""Brings diagnostics to the client: pushed with their version, or a hint to pull again; never both."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lsprotocol import types

from neurarch_lsp.features.poll import never
from neurarch_lsp.lsp import uris, workspace_watch
from neurarch_lsp.lsp.diagnostics import to_diagnostics
from neurarch_lsp.lsp.encoded import Encoded, encoded
from neurarch_lsp.lsp.positions import positions_of
from neurarch_lsp.lsp.requests import off_loop

if TYPE_CHECKING:
    from collections.abc import Iterable

    from neurarch_lsp.lsp.job import Analysed
    from neurarch_lsp.lsp.open_documents import OpenDocument
    from neurarch_lsp.lsp.server import NeurarchServer


def document_changed(server: NeurarchServer, document: OpenDocument) -> None:
    """Analyse a document that was opened or edited, and publish the result where the client does not pull it."""
    server.scheduler.submit(document.key, server.job(document))
    if not server.client.pull_diagnostics and document.key not in server.publishing:
        server.publishing.add(document.key)
        server.spawn(_publish(server, document.key), f"publish {document.uri}")


def document_closed(server: NeurarchServer, document: OpenDocument) -> None:
    server.scheduler.forget(document.key)
    server.parsed.pop(document.key, None)
    server.folders.forget_unused({os.path.dirname(other.key) for other in server.documents})
    if not server.client.pull_diagnostics:
        _send(server, document.uri, None, [])


def files_changed(server: NeurarchServer, changed: frozenset[str]) -> None:
    """Files on disk have changed: look again at the open documents beside them, at all for a settings file."""
    if any(workspace_watch.is_settings_file(uris.file_name(uri)) for uri in changed):
        server.settings.reload()
        surroundings_changed(server)
        return
    folders = {os.path.dirname(uris.key(uri)) for uri in changed}
    server.folders.changed(folders)
    beside = [document for document in server.documents if os.path.dirname(document.key) in folders]
    surroundings_changed(server, beside)


def surroundings_changed(server: NeurarchServer, documents: Iterable[OpenDocument] | None = None) -> None:
    """Settings or files beside the documents have changed: they (all open ones) are analysed again."""
    for document in server.documents if documents is None else documents:
        document_changed(server, document)
    server.scan.changed()
    client = server.client
    if not client.pull_diagnostics:
        server.spawn(push_workspace(server), "workspace diagnostics")
    if client.pull_diagnostics and client.refresh_diagnostics:
        server.workspace_diagnostic_refresh(None)
    if client.refresh_inlay_hints:
        server.workspace_inlay_hint_refresh(None)
    if client.refresh_code_lenses:
        server.workspace_code_lens_refresh(None)


async def push_workspace(server: NeurarchServer) -> None:
    """Diagnostics of files that are not open, for a client that cannot pull them; cleared where they are gone."""
    found: set[str] = set()
    async for analysed in server.scan.results(server):
        items = await diagnostics_of(server, analysed)
        if items:
            found.add(analysed.document.uri)
            _send(server, analysed.document.uri, None, items)
    for uri in server.pushed - found:
        if server.documents.get(uri) is None:
            _send(server, uri, None, [])
    server.pushed = found


async def _publish(server: NeurarchServer, key: str) -> None:
    """Wait for the newest version, however many come meanwhile, and publish that one."""
    try:
        while (analysed := await server.scheduler.newest(key)) is not None:
            _tell_problem(server, analysed)
            text = await off_loop(server, _as_text, server, analysed)
            if server.scheduler.finished(key) is analysed:
                server.protocol.publish_diagnostics(analysed.document.uri, analysed.document.version, text)
                return
    finally:
        server.publishing.discard(key)


async def diagnostics_of(server: NeurarchServer, analysed: Analysed) -> list[types.Diagnostic]:
    _tell_problem(server, analysed)
    return await off_loop(server, _diagnostics, server, analysed)


def _diagnostics(server: NeurarchServer, analysed: Analysed) -> list[types.Diagnostic]:
    return to_diagnostics(analysed, positions_of(analysed.document, server.documents.encoding), server.client)


def _as_text(server: NeurarchServer, analysed: Analysed) -> Encoded:
    return encoded(_diagnostics(server, analysed), server.unstructured, never)


def _tell_problem(server: NeurarchServer, analysed: Analysed) -> None:
    """A settings file that cannot be used is told once: its own buffer may not be open."""
    if analysed.settings_problem is not None:
        server.tell_once(f"settings not used: {analysed.settings_problem}")


def _send(server: NeurarchServer, uri: str, version: int | None, items: list[types.Diagnostic]) -> None:
    server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, items, version))
