"""Every message the server sends is valid LSP: read back with lsprotocol's model of the protocol, strictly."""

from __future__ import annotations

import json
from typing import Any

import pytest
from lsprotocol import types
from lsprotocol.converters import get_converter

from . import samples
from .clients import PROFILES, Profile
from .wire import Wire

pytestmark = pytest.mark.asyncio

URI = "file:///nowhere/conformance/config.json"
TEXT = samples.text(samples.MOE, num_key_value_heads=3, max_position_embeddings=131072).replace("{", "{ // note\n", 1)


def requests() -> dict[str, dict[str, Any]]:
    document = {"textDocument": {"uri": URI}}
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


def plain(value: Any) -> Any:
    """Without what a JSON writer may leave out: nulls."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items() if item is not None}
    return [plain(item) for item in value] if isinstance(value, list) else value


def check(method: str, message: dict[str, Any]) -> None:
    """The message reads as the type of its method, and nothing in it is unknown to that type."""
    _, response, *_ = types.METHOD_TO_TYPES[method]
    converter = get_converter()
    kind = types.METHOD_TO_TYPES[method][0] if "method" in message else response
    structured = converter.structure(message, kind)
    back = json.loads(json.dumps(converter.unstructure(structured)))
    lost = keys(plain(message)) - keys(plain(back))
    assert not {path for path in lost if "data" not in path}, lost


def keys(value: Any, path: tuple[str, ...] = ()) -> set[tuple[str, ...]]:
    found: set[tuple[str, ...]] = set()
    if isinstance(value, dict):
        for key, item in value.items():
            found |= {(*path, key)} | keys(item, (*path, key))
    elif isinstance(value, list):
        for item in value:
            found |= keys(item, (*path, "[]"))
    return found


@pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.encoding)
async def test_every_answer_is_of_its_type(profile: Profile) -> None:
    wire = await Wire.start()
    wire.send(
        "initialize",
        {"processId": None, "rootUri": None, "capabilities": {**profile._plain(), "experimental": {"x": 1}}},
        0,
    )
    check("initialize", await wire.answer(0))
    wire.send("initialized", {})
    item = {"uri": URI, "languageId": "json", "version": 1, "text": TEXT}
    wire.send("textDocument/didOpen", {"textDocument": item})
    if not profile.pull:
        while (message := await wire.receive()).get("method") != "textDocument/publishDiagnostics":
            check(message["method"], message)
        check("textDocument/publishDiagnostics", message)
        assert message["params"]["diagnostics"]
    else:
        wire.send("textDocument/diagnostic", {"textDocument": {"uri": URI}}, "pull")
        answer = await wire.answer("pull")
        check("textDocument/diagnostic", answer)
        assert answer["result"]["items"]
    answered = {}
    for number, (method, parameters) in enumerate(requests().items(), 1):
        wire.send(method, parameters, number)
        answer = await wire.answer(number)
        assert "error" not in answer, (method, answer)
        if method != "textDocument/codeAction":  # lsprotocol reads an action that has a command as a bare command
            check(method, answer)
        answered[method] = answer["result"]
    for method in ("hover", "completion", "documentSymbol", "codeAction", "codeLens", "inlayHint", "foldingRange"):
        assert answered[f"textDocument/{method}"], method
    for action in answered["textDocument/codeAction"]:
        get_converter().structure(action, types.CodeAction)
    assert await wire.end() == 0
