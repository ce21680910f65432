"""A small blocking LSP client over stdio for timing a server."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Sequence
from typing import Any


class LspClient:
    """``pull`` tells the server that diagnostics are pulled; else they are waited for."""

    def __init__(self, command: Sequence[str], pull: bool = False) -> None:
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self.pull = pull
        self.identity = 0
        self.ended: set[int] = set()
        """Requests that were answered, with a result or an error."""
        document: dict[str, Any] = {
            "publishDiagnostics": {"versionSupport": True, "relatedInformation": True},
            "hover": {"contentFormat": ["markdown"]},
            "completion": {"completionItem": {"snippetSupport": True}},
        }
        if pull:
            document["diagnostic"] = {}
        self.request(
            "initialize",
            {
                "processId": None,
                "rootUri": None,
                "capabilities": {"textDocument": document, "general": {"positionEncodings": ["utf-32", "utf-16"]}},
                "initializationOptions": {"provideFormatter": False},
            },
        )
        self.seconds_to_initialize = time.perf_counter() - self.started
        self.notify("initialized", {})

    def write(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        length = 0
        while (line := self.process.stdout.readline()).strip():
            if line.lower().startswith(b"content-length"):
                length = int(line.split(b":")[1])
        if not length:
            raise EOFError("the server has ended")
        message: dict[str, Any] = json.loads(self.process.stdout.read(length))
        if "id" in message and "method" in message:
            answer = (
                [None] * len(message["params"]["items"]) if message["method"] == "workspace/configuration" else None
            )
            self.write({"id": message["id"], "result": answer})
        elif "id" in message:
            self.ended.add(message["id"])
        return message

    def notify(self, method: str, params: Any) -> None:
        self.write({"method": method, "params": params})

    def ask(self, method: str, params: Any) -> int:
        """Send a request without waiting; its identity, which ``ended`` holds once it is answered."""
        self.identity += 1
        self.write({"id": self.identity, "method": method, "params": params})
        return self.identity

    def request(self, method: str, params: Any) -> Any:
        identity = self.ask(method, params)
        while True:
            message = self.read()
            if message.get("id") == identity and "method" not in message:
                if "error" in message:
                    raise RuntimeError(message["error"])
                return message["result"]

    def open(self, uri: str, text: str, language: str = "json") -> None:
        item = {"uri": uri, "languageId": language, "version": 1, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": item})
        self.diagnostics(uri, 1)

    def diagnostics(self, uri: str, version: int) -> Any:
        if self.pull:
            return self.request("textDocument/diagnostic", {"textDocument": {"uri": uri}})["items"]
        while True:
            message = self.read()
            if message.get("method") == "textDocument/publishDiagnostics":
                params = message["params"]
                if params["uri"] == uri and params.get("version", version) == version:
                    return params["diagnostics"]

    def edit(self, uri: str, version: int, line: int, character: int, removed: int, text: str) -> float:
        """Seconds from an edit until its diagnostics are here."""
        span = {
            "start": {"line": line, "character": character},
            "end": {"line": line, "character": character + removed},
        }
        started = time.perf_counter()
        self.notify(
            "textDocument/didChange",
            {"textDocument": {"uri": uri, "version": version}, "contentChanges": [{"range": span, "text": text}]},
        )
        self.diagnostics(uri, version)
        return time.perf_counter() - started

    def processor_seconds(self) -> float:
        """What the server's process has used so far; that of its children is not in it. Linux only."""
        return time.clock_gettime(~self.process.pid << 3 | 2)

    def end(self) -> None:
        self.request("shutdown", None)
        self.notify("exit", None)
        self.process.wait(10)
