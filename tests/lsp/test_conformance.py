"""Every message of both sides is valid LSP, read with lsprotocol's model of the protocol, strictly; every method of the
server is driven in every position encoding.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from lsprotocol.converters import get_converter

from neurarch_lsp.lsp.client_features import ClientFeatures
from neurarch_lsp.lsp.commands import COMMANDS
from neurarch_lsp.lsp.registration import FEATURES

from . import samples
from .clients import PROFILES, Profile
from .wire import Wire

pytestmark = pytest.mark.asyncio

TEXT = samples.text(samples.MOE, num_key_value_heads=3, max_position_embeddings=131072).replace(
    "{", "{ // 🤖 note\n", 1
)
PYTHON = "import torch.nn as nn\n\n\nclass Größe(nn.Module):\n    def __init__(self):\n        super().__init__()\n"


class CheckedWire(Wire):
    """Checks each message that is sent or received, and remembers the methods of both sides."""

    @classmethod
    async def begin(cls, profile: Profile, folder: Path) -> CheckedWire:
        plain = await Wire.start()
        wire = cls(plain.process)
        wire.asked, wire.sent, wire.received = {}, set(), set()
        folders = [{"uri": folder.as_uri(), "name": "folder"}]
        capabilities = {**profile._plain(), "experimental": {"x": 1}}
        capabilities["workspace"]["configuration"] = True
        capabilities["workspace"]["didChangeWatchedFiles"] = {"dynamicRegistration": True}
        capabilities["window"]["showDocument"] = {"support": True}
        options = {"diagnosticMode": "workspace"}
        parameters = {"processId": None, "rootUri": None, "capabilities": capabilities, "workspaceFolders": folders}
        wire.send("initialize", {**parameters, "initializationOptions": options}, "initialize")
        await wire.answer("initialize")
        wire.send("initialized", {})
        return wire

    asked: dict[int | str, str]
    sent: set[str]
    received: set[str]

    def send(self, method: str, params: Any, identity: int | str | None = None) -> None:
        message = {"jsonrpc": "2.0", "method": method, **({} if params is None else {"params": params})}
        if identity is not None:
            message["id"] = identity
            self.asked[identity] = method
        check(types.METHOD_TO_TYPES[method][0], message)
        self.sent.add(method)
        self.frame(json.dumps(message).encode())

    async def receive(self) -> dict[str, Any]:
        message = await super().receive()
        if "method" not in message:
            check_answer(self.asked[message["id"]], message)
            return message
        method = message["method"]
        self.received.add(method)
        check(types.METHOD_TO_TYPES[method][0], message)
        if "id" in message:
            results: dict[str, Any] = {
                "workspace/configuration": [None] * len((message.get("params") or {}).get("items", ())),
                "window/showDocument": {"success": True},
                "workspace/applyEdit": {"applied": True},
            }
            answer = {"jsonrpc": "2.0", "id": message["id"], "result": results.get(method)}
            check(types.METHOD_TO_TYPES[method][1], answer)
            self.frame(json.dumps(answer).encode())
        return message

    async def request(self, method: str, params: Any) -> Any:
        identity = len(self.asked)
        self.send(method, params, identity)
        answer = await self.answer(identity)
        assert "error" not in answer, (method, answer)
        return answer["result"]


def check_answer(method: str, message: dict[str, Any]) -> None:
    if method == types.TEXT_DOCUMENT_CODE_ACTION:  # lsprotocol reads an action that has a command as a bare command
        for action in message["result"]:
            check(types.CodeAction, action)
    elif "error" not in message:
        check(types.METHOD_TO_TYPES[method][1], message)


def plain(value: Any) -> Any:
    """Without what a JSON writer may leave out: nulls."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items() if item is not None}
    return [plain(item) for item in value] if isinstance(value, list) else value


def check(kind: Any, message: dict[str, Any]) -> None:
    """The message reads as the type, and nothing in it is unknown to that type."""
    converter = get_converter()
    structured = converter.structure(message, kind)
    back = json.loads(json.dumps(converter.unstructure(structured)))
    lost = keys(plain(message)) - keys(plain(back))
    assert not {path for path in lost if "data" not in path}, (kind, lost)


def keys(value: Any, path: tuple[str, ...] = ()) -> set[tuple[str, ...]]:
    found: set[tuple[str, ...]] = set()
    if isinstance(value, dict):
        for key, item in value.items():
            found |= {(*path, key)} | keys(item, (*path, key))
    elif isinstance(value, list):
        for item in value:
            found |= keys(item, (*path, "[]"))
    return found


def requests(uri: str) -> dict[str, dict[str, Any]]:
    document = {"textDocument": {"uri": uri}}
    whole = {"start": {"line": 0, "character": 0}, "end": {"line": 40, "character": 0}}
    line = next(number for number, content in enumerate(TEXT.split("\n")) if "num_key_value_heads" in content)
    place = {**document, "position": {"line": line, "character": 6}}
    return {
        "textDocument/hover": place,
        "textDocument/completion": {**document, "position": {"line": line, "character": 2}},
        "textDocument/definition": place,
        "textDocument/references": {**place, "context": {"includeDeclaration": True}},
        "textDocument/documentHighlight": place,
        "textDocument/documentSymbol": document,
        "textDocument/codeAction": {**document, "range": whole, "context": {"diagnostics": []}},
        "textDocument/codeLens": document,
        "textDocument/documentLink": document,
        "textDocument/formatting": {**document, "options": {"tabSize": 2, "insertSpaces": True}},
        "textDocument/rename": {**place, "newName": "n"},
        "textDocument/prepareRename": place,
        "textDocument/foldingRange": document,
        "textDocument/selectionRange": {**document, "positions": [place["position"]]},
        "textDocument/inlayHint": {**document, "range": whole},
    }


ANSWERED = ("hover", "completion", "documentSymbol", "codeAction", "codeLens", "inlayHint", "foldingRange")


@pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.encoding)
async def test_every_method_of_both_sides(profile: Profile, tmp_path: Path) -> None:
    for name in ("other", "open"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text(TEXT, encoding="utf-8")
    uri = (tmp_path / "open" / "config.json").as_uri()
    wire = await CheckedWire.begin(profile, tmp_path)
    opened(wire, uri, "json", TEXT)
    if profile.pull:
        assert (await wire.request("textDocument/diagnostic", {"textDocument": {"uri": uri}}))["items"]
        reports = (await wire.request("workspace/diagnostic", {"previousResultIds": []}))["items"]
        assert [item["uri"] for item in reports if item["items"]] == [(tmp_path / "other" / "config.json").as_uri()]
    else:
        while (await wire.notification("textDocument/publishDiagnostics"))["uri"] != uri:
            pass
    answers = {method: await wire.request(method, params) for method, params in requests(uri).items()}
    for name in ANSWERED:
        assert answers[f"textDocument/{name}"], name
    items = answers["textDocument/completion"]["items"]
    await wire.request("completionItem/resolve", items[0])
    await wire.request("inlayHint/resolve", answers["textDocument/inlayHint"][0])
    for action in answers["textDocument/codeAction"]:
        if "edit" not in action and "command" not in action:
            assert "edit" in await wire.request("codeAction/resolve", action), action
    fix_all = {"diagnostics": [], "only": ["source.fixAll"]}
    (action,) = await wire.request(
        "textDocument/codeAction", {**requests(uri)["textDocument/codeAction"], "context": fix_all}
    )
    assert "edit" in (action if "edit" in action else await wire.request("codeAction/resolve", action))
    if "codeAction/resolve" not in wire.sent:
        await wire.request("codeAction/resolve", action)
    for command in COMMANDS:
        argument = "kv-heads-indivisible" if "explain" in command else uri
        await wire.request("workspace/executeCommand", {"command": command, "arguments": [argument]})
    await change(wire, uri)
    await notebook(wire)
    assert await wire.end() == 0
    here = ClientFeatures() if not profile.pull else None
    registered = {feature.method for feature in FEATURES if feature.when(here or _pulling())}
    left_to_editors = {types.WORKSPACE_DIAGNOSTIC, types.TEXT_DOCUMENT_DIAGNOSTIC} if not profile.pull else set()
    assert registered - left_to_editors <= wire.sent
    assert {"client/registerCapability", "workspace/configuration"} <= wire.received


def _pulling() -> ClientFeatures:
    return ClientFeatures(pull_diagnostics=True)


def opened(wire: Wire, uri: str, language: str, text: str) -> None:
    item = {"uri": uri, "languageId": language, "version": 1, "text": text}
    wire.send("textDocument/didOpen", {"textDocument": item})


async def change(wire: CheckedWire, uri: str) -> None:
    """The notifications that tell of changes, and what the server tells or asks because of them."""
    whole = [{"text": TEXT + "\n"}]
    wire.send("textDocument/didChange", {"textDocument": {"uri": uri, "version": 2}, "contentChanges": whole})
    wire.send("textDocument/didSave", {"textDocument": {"uri": uri}})
    wire.send("workspace/didChangeConfiguration", {"settings": {"neurarch": {"ignore": ["legacy-key"]}}})
    beside = uri.replace("config.json", "generation_config.json")
    wire.send("workspace/didChangeWatchedFiles", {"changes": [{"uri": beside, "type": 1}]})
    event = {"added": [], "removed": [{"uri": "file:///nowhere", "name": "nowhere"}]}
    wire.send("workspace/didChangeWorkspaceFolders", {"event": event})
    await wire.request("textDocument/hover", requests(uri)["textDocument/hover"])
    wire.send("textDocument/didClose", {"textDocument": {"uri": uri}})


async def notebook(wire: CheckedWire) -> None:
    """A notebook that is opened, edited and closed."""
    book = "file:///nowhere/book.ipynb"
    cells = [{"kind": 2, "document": f"{book}#{number}"} for number in range(2)]
    items = [
        {"uri": cell["document"], "languageId": "python", "version": 1, "text": PYTHON if number == 0 else ""}
        for number, cell in enumerate(cells)
    ]
    document = {"uri": book, "notebookType": "jupyter-notebook", "version": 1, "cells": cells}
    wire.send("notebookDocument/didOpen", {"notebookDocument": document, "cellTextDocuments": items})
    edit = {"document": {"uri": items[1]["uri"], "version": 2}, "changes": [{"text": PYTHON}]}
    change = {"cells": {"textContent": [edit]}}
    wire.send("notebookDocument/didChange", {"notebookDocument": {"uri": book, "version": 2}, "change": change})
    await wire.request("textDocument/codeLens", {"textDocument": {"uri": items[1]["uri"]}})
    closed = [{"uri": item["uri"]} for item in items]
    wire.send("notebookDocument/didClose", {"notebookDocument": {"uri": book}, "cellTextDocuments": closed})
