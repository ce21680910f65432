"""Which LSP methods the server has, each with the file that handles it and the options it announces."""

from __future__ import annotations

import importlib
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from neurarch_lsp.lsp import editor_settings
from neurarch_lsp.lsp.client_features import ClientFeatures
from neurarch_lsp.lsp.encoded import encoded
from neurarch_lsp.lsp.requests import in_steps

if TYPE_CHECKING:
    from neurarch_lsp.lsp.server import NeurarchServer

logger = logging.getLogger(__name__)

SLOW_SECONDS = 0.25
"""Requests that take longer are logged at INFO with their duration."""


@dataclass(frozen=True, slots=True)
class Feature:
    """``module`` is a file of ``methods/``, imported when first needed; ``when`` decides by the client's abilities."""

    method: str
    module: str
    options: Callable[[], Any] | None = None
    when: Callable[[ClientFeatures], bool] = lambda _: True
    notification: bool = False
    long: bool = False
    """The answer may have thousands of items: it becomes JSON off the event loop."""


def _completion_options() -> types.CompletionOptions:
    return types.CompletionOptions(
        trigger_characters=['"', ":", ",", "{", "[", "(", "=", "'", "."], resolve_provider=True
    )


def _code_action_options() -> types.CodeActionOptions:
    return types.CodeActionOptions(
        code_action_kinds=[
            types.CodeActionKind.QuickFix,
            "source.fixAll.neurarch",
        ],
        resolve_provider=True,
    )


def _rename_options() -> types.RenameOptions:
    return types.RenameOptions(prepare_provider=True)


def _diagnostic_options() -> types.DiagnosticOptions:
    return types.DiagnosticOptions(
        identifier="neurarch", inter_file_dependencies=True, workspace_diagnostics=True, work_done_progress=True
    )


FEATURES = (
    Feature(types.INITIALIZED, "initialized", notification=True),
    Feature(types.SHUTDOWN, "shutdown", notification=True),
    Feature(types.TEXT_DOCUMENT_DID_OPEN, "text_document_did_open", notification=True),
    Feature(types.TEXT_DOCUMENT_DID_CHANGE, "text_document_did_change", notification=True),
    Feature(types.TEXT_DOCUMENT_DID_CLOSE, "text_document_did_close", notification=True),
    Feature(types.NOTEBOOK_DOCUMENT_DID_OPEN, "notebook_document_did_open", notification=True),
    Feature(types.NOTEBOOK_DOCUMENT_DID_CHANGE, "notebook_document_did_change", notification=True),
    Feature(types.NOTEBOOK_DOCUMENT_DID_CLOSE, "notebook_document_did_close", notification=True),
    Feature(types.TEXT_DOCUMENT_DID_SAVE, "text_document_did_save", notification=True),
    Feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION, "workspace_did_change_configuration", notification=True),
    Feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES, "workspace_did_change_watched_files", notification=True),
    Feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS, "workspace_did_change_workspace_folders", notification=True),
    Feature(
        types.TEXT_DOCUMENT_DIAGNOSTIC,
        "text_document_diagnostic",
        _diagnostic_options,
        when=lambda client: client.pull_diagnostics,
        long=True,
    ),
    Feature(types.WORKSPACE_DIAGNOSTIC, "workspace_diagnostic", when=lambda client: client.pull_diagnostics, long=True),
    Feature(
        types.TEXT_DOCUMENT_FORMATTING,
        "text_document_formatting",
        when=lambda client: not editor_settings.has_own_servers(client.name),
        long=True,
    ),
    Feature(types.TEXT_DOCUMENT_HOVER, "text_document_hover"),
    Feature(types.TEXT_DOCUMENT_COMPLETION, "text_document_completion", _completion_options),
    Feature(types.COMPLETION_ITEM_RESOLVE, "completion_item_resolve"),
    Feature(types.TEXT_DOCUMENT_INLAY_HINT, "text_document_inlay_hint", long=True),
    Feature(types.INLAY_HINT_RESOLVE, "inlay_hint_resolve"),
    Feature(types.TEXT_DOCUMENT_CODE_LENS, "text_document_code_lens"),
    Feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL, "text_document_document_symbol", long=True),
    Feature(types.TEXT_DOCUMENT_FOLDING_RANGE, "text_document_folding_range", long=True),
    Feature(types.TEXT_DOCUMENT_SELECTION_RANGE, "text_document_selection_range"),
    Feature(types.TEXT_DOCUMENT_DOCUMENT_LINK, "text_document_document_link", long=True),
    Feature(types.TEXT_DOCUMENT_DEFINITION, "text_document_definition"),
    Feature(types.TEXT_DOCUMENT_REFERENCES, "text_document_references", long=True),
    Feature(types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT, "text_document_document_highlight", long=True),
    Feature(types.TEXT_DOCUMENT_PREPARE_RENAME, "text_document_prepare_rename"),
    Feature(types.TEXT_DOCUMENT_RENAME, "text_document_rename", _rename_options),
    Feature(types.TEXT_DOCUMENT_CODE_ACTION, "text_document_code_action", _code_action_options, long=True),
    Feature(types.CODE_ACTION_RESOLVE, "code_action_resolve"),
)


def register(server: NeurarchServer) -> None:
    """Register what this client can use; called once, while ``initialize`` is answered."""
    for feature in FEATURES:
        if feature.when(server.client):
            handler = _notified(server, feature) if feature.notification else _requested(server, feature)
            options = feature.options() if feature.options else None
            server.feature(feature.method, options)(handler)


def load(feature_module: str) -> Any:
    return importlib.import_module(f"neurarch_lsp.lsp.methods.{feature_module}")


def _notified(server: NeurarchServer, feature: Feature) -> Callable[[Any], None]:
    def handle(params: Any = None) -> None:
        try:
            load(feature.module).handle(server, params)
        except Exception as error:
            logger.exception("%s failed", feature.method)
            server.tell_once(f"{feature.method} failed ({type(error).__name__}); the log has the details.")

    return handle


def _requested(server: NeurarchServer, feature: Feature) -> Callable[[Any], Any]:
    async def handle(params: Any = None) -> Any:
        started = time.perf_counter()
        try:
            answer = await load(feature.module).handle(server, params)
            return await in_steps(server, encoded, answer, server.unstructured) if feature.long else answer
        except JsonRpcException:
            raise
        except Exception:
            logger.exception("%s failed on %s", feature.method, _document_of(params))
            raise
        finally:
            elapsed = time.perf_counter() - started
            if elapsed > SLOW_SECONDS:
                logger.info("%s took %.0f ms", feature.method, elapsed * 1000)

    return handle


def _document_of(params: Any) -> str:
    return str(getattr(getattr(params, "text_document", None), "uri", "(no document)"))
