"""pygls's protocol with our own text synchronisation, position encoding and error answers."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInternalError
from pygls.protocol import LanguageServerProtocol, lsp_method

from neurarch_lsp.lsp import client_features, commands, registration
from neurarch_lsp.lsp.encoded import Encoded

if TYPE_CHECKING:
    from neurarch_lsp.lsp.server import NeurarchServer

logger = logging.getLogger(__name__)

OWN_SYNCHRONISATION = (
    types.TEXT_DOCUMENT_DID_OPEN,
    types.TEXT_DOCUMENT_DID_CHANGE,
    types.TEXT_DOCUMENT_DID_CLOSE,
    types.NOTEBOOK_DOCUMENT_DID_OPEN,
    types.NOTEBOOK_DOCUMENT_DID_CHANGE,
    types.NOTEBOOK_DOCUMENT_DID_CLOSE,
)
"""pygls splits lines at form feeds, U+2028 and others, which LSP does not: its text would differ from the editor's."""


class NeurarchProtocol(LanguageServerProtocol):
    _server: NeurarchServer

    def _register_builtin_features(self) -> None:
        super()._register_builtin_features()  # type: ignore[no-untyped-call]  # pygls leaves it unannotated
        for method in OWN_SYNCHRONISATION:
            self.fm.builtin_features.pop(method, None)

    @lsp_method(types.INITIALIZE)
    def lsp_initialize(self, params: types.InitializeParams) -> Generator[Any, Any, types.InitializeResult]:
        server = self._server
        server.begin(client_features.resolve(params), params)
        # pygls takes the client's first encoding: leave it only the one chosen.
        if params.capabilities.general is None:
            params.capabilities.general = types.GeneralClientCapabilities()
        params.capabilities.general.position_encodings = [server.client.position_encoding]
        registration.register(server)
        commands.register(server)
        result = yield from super().lsp_initialize(params)
        return result

    @lsp_method(types.EXIT)
    def lsp_exit(self, *_: object) -> None:  # type: ignore[override]  # pygls declares a generator, any handler will do
        self._server.end(0 if self._shutdown else 1)

    def receive(self, message: dict[str, Any]) -> None:
        """Handle one decoded message; a request that cannot be understood gets an error, not silence."""
        try:
            structured = self.structure_message(message)
        except JsonRpcException as error:
            if "method" in message and "id" in message:
                self._send_response(message["id"], error=error.to_response_error())
            return
        if isinstance(structured, dict):
            logger.error("not a JSON-RPC message: %.120r", message)
            return
        try:
            self.handle_message(structured)
        except Exception as error:
            logger.exception("cannot handle %s", message.get("method", "a response"))
            self._server._report_server_error(error, JsonRpcInternalError)

    def _execute_handler(
        self,
        msg_id: int | str,
        handler: Any,
        callback: Callable[[Any], None],
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
    ) -> None:
        """pygls would keep the outcome of each command, a whole report say, until the end of the session."""

        def ended(future: Any) -> None:
            self._request_futures.pop(msg_id, None)
            callback(future)

        super()._execute_handler(msg_id, handler, ended, args, kwargs)

    def _send_response(self, msg_id: int | str, result: Any = None, error: types.ResponseError | None = None) -> None:
        if error is None and isinstance(result, Encoded):
            self._write(b'{"jsonrpc": "2.0", "id": %b, "result": ' % json.dumps(msg_id).encode(), result, b"}")
        else:
            super()._send_response(msg_id, result, error)

    def publish_diagnostics(self, uri: str, version: int | None, diagnostics: Encoded) -> None:
        about = {"uri": uri} if version is None else {"uri": uri, "version": version}
        begin = b'{"jsonrpc": "2.0", "method": "%b", "params": {%b, "diagnostics": ' % (
            types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS.encode(),
            json.dumps(about)[1:-1].encode(),
        )
        self._write(begin, diagnostics, b"}}")

    def _write(self, *parts: bytes) -> None:
        """The parts of one message, which the writer puts together."""
        if self.writer is not None:
            self.writer.write(b"Content-Length: %d\r\n\r\n" % sum(map(len, parts)))
            for part in parts:
                self.writer.write(part)

    def _handle_cancel_notification(self, msg_id: int | str) -> None:
        # Cancelling a request that has just been answered is normal, and no reason for a warning.
        future = self._request_futures.pop(msg_id, None)
        if future is not None:
            future.cancel()
