"""Asks the client to watch the files that change findings, and to tell when settings change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

if TYPE_CHECKING:
    from neurarch_lsp.lsp.server import NeurarchServer

SETTINGS_GLOBS = ("**/{neurarch-lsp,.neurarch-lsp,pyproject}.toml",)
SIBLING_GLOBS = (
    "**/*{config,params}*.json",
    "**/{tokenizer,added_tokens,special_tokens_map,vocab}*.json",
    "**/*.safetensors.index.json",
    "**/*.safetensors",
    "**/requirements*.txt",
)

FILES_ID, SETTINGS_ID = "neurarch-watched-files", "neurarch-configuration"


def register(server: NeurarchServer) -> None:
    """Dynamic registrations, where the client takes them."""
    registrations: list[types.Registration] = []
    if server.client.watch_files:
        watchers = [types.FileSystemWatcher(pattern) for pattern in (*SETTINGS_GLOBS, *SIBLING_GLOBS)]
        registrations.append(
            types.Registration(
                FILES_ID,
                types.WORKSPACE_DID_CHANGE_WATCHED_FILES,
                types.DidChangeWatchedFilesRegistrationOptions(watchers),
            )
        )
    if server.client.register_configuration:
        registrations.append(
            types.Registration(SETTINGS_ID, types.WORKSPACE_DID_CHANGE_CONFIGURATION, {"section": "neurarch"})
        )
    if registrations:
        server.client_register_capability(types.RegistrationParams(registrations))


def is_settings_file(name: str) -> bool:
    return name in ("neurarch-lsp.toml", ".neurarch-lsp.toml", "pyproject.toml")
