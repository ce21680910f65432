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

from neurarch_lsp.lsp.client_features import ClientFeatures

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


def _completion_options() -> types.CompletionOptions:
    return types.CompletionOptions(trigger_characters=['"', ":", ",", "{", "["], resolve_provider=True)


def _code_action_options() -> types.CodeActionOptions:
    return types.CodeActionOptions(
        code_action_kinds=[
            types.CodeActionKind.QuickFix,
            "source.fixAll.neurarch",
        ],
        resolve_provider=True,
    )


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
    Feature(
        types.TEXT_DOCUMENT_DIAGNOSTIC,
        "text_document_diagnostic",
        _diagnostic_options,
        when=lambda client: client.pull_diagnostics,
    ),
    Feature(types.TEXT_DOCUMENT_HOVER, "text_document_hover"),
    Feature(types.TEXT_DOCUMENT_CODE_ACTION, "text_document_code_action", _code_action_options),
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
            return await load(feature.module).handle(server, params)
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
