"""The workspace edit that writes a suppression into the settings file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lsprotocol import types

from neurarch_lsp.features import suppression
from neurarch_lsp.lsp import uris
from neurarch_lsp.lsp.positions import Positions
from neurarch_lsp.lsp.workspace_edits import document_edit, text_edits
from neurarch_lsp.settings.find import SettingsError
from neurarch_schemas.documents.line_index import LineIndex

if TYPE_CHECKING:
    from neurarch_lsp.lsp.job import Analysed
    from neurarch_lsp.lsp.server import NeurarchServer


def edit(server: NeurarchServer, analysed: Analysed, rule: str, pointer: object) -> types.WorkspaceEdit | None:
    """An entry for the finding of ``rule`` at ``pointer``; None when it is gone, or the settings file is broken."""
    document = analysed.document
    finding = next((item for item in analysed.findings if item.rule == rule and item.place.pointer == pointer), None)
    if finding is None or document.path is None:
        return None
    try:
        found = server.settings.of(document.uri).resolver.file_for(document.path)
    except SettingsError:
        return None
    path = found.path if found is not None else None
    opened = server.documents.get(uris.from_path(path)) if path is not None else None
    text = opened.text if opened is not None else _read(path) if path is not None else ""
    wanted = suppression.in_settings(finding, document.path, path, text, _workspace_folder(server, document.path))
    if opened is not None:
        return document_edit(server, opened, [wanted.edit])
    uri = uris.from_path(wanted.path)
    changes = text_edits(Positions(LineIndex(text), server.documents.encoding), [wanted.edit])
    if wanted.exists:
        if not server.client.document_changes:
            return types.WorkspaceEdit(changes={uri: changes})
        identifier = types.OptionalVersionedTextDocumentIdentifier(uri)
        return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(identifier, list(changes))])
    if not server.client.create_files:
        return None
    return types.WorkspaceEdit(
        document_changes=[
            types.CreateFile(uri, options=types.CreateFileOptions(ignore_if_exists=True)),
            types.TextDocumentEdit(types.OptionalVersionedTextDocumentIdentifier(uri), list(changes)),
        ]
    )


def possible(server: NeurarchServer, analysed: Analysed) -> bool:
    """Whether there is a sound settings file to write to, or the client can create one."""
    document = analysed.document
    if document.path is None:
        return False
    try:
        found = server.settings.of(document.uri).resolver.file_for(document.path)
    except SettingsError:
        return False
    return found is not None or server.client.create_files


def _workspace_folder(server: NeurarchServer, path: str) -> str | None:
    """The innermost workspace folder around a file."""
    folders = [uris.to_path(folder.uri) for folder in server.workspace.folders.values()]
    around = [folder for folder in folders if folder and path.startswith(folder.rstrip(os.sep) + os.sep)]
    return max(around, key=len, default=None)


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except OSError:
        return ""
