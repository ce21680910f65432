"""Random edits with every feature requested between them: nothing stale, nothing logged, the end as if opened afresh.

``NEURARCH_EDITS=10000`` makes the long run; memory must then stay flat.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
from typing import Any

import pytest

from . import samples
from .clients import SERVER, split_lines, units
from .wire import Wire

pytestmark = pytest.mark.asyncio

EDITS = int(os.environ.get("NEURARCH_EDITS", "300"))
URI = "file:///nowhere/random/config.json"
FRESH = "file:///nowhere/fresh/config.json"
PIECES = (
    "{", "}", "[", "]", ",", ":", '"', "\n", "\r\n", "\r", "🤖", "混合", "\u2028", "\u000c", "\u0085", "null", "NaN",
    "-1", "1e999", '"num_key_value_heads": 3,', '"model_type": "mixtral",', "// comment\n", "/*", "<<<<<<< HEAD\n",
    "\ufeff", "\x00", "9" * 40,
)  # fmt: skip
TEXTS = (samples.text(samples.LLAMA), samples.text(samples.MOE), '{"name": "app"}', "", "{}")
REQUESTS = tuple(
    f"textDocument/{name}"
    for name in (
        "hover", "completion", "inlayHint", "codeLens", "documentSymbol", "foldingRange", "selectionRange",
        "documentLink", "definition", "references", "documentHighlight", "codeAction", "formatting", "prepareRename",
    )
)  # fmt: skip


class Editor:
    """A text and the edits of somebody in a hurry."""

    def __init__(self, chance: random.Random, encoding: str) -> None:
        self.chance = chance
        self.encoding = encoding
        self.text = TEXTS[0]
        self.version = 1
        self.past: list[str] = []

    def position(self, offset: int) -> dict[str, int]:
        if offset and self.text[offset - 1 : offset + 1] == "\r\n":
            offset -= 1
        lines = split_lines(self.text[:offset])
        return {"line": len(lines) - 1, "character": units(lines[-1], self.encoding)}

    def somewhere(self) -> int:
        offset = self.chance.randint(0, len(self.text))
        # Nobody's cursor stands between the two characters of a line break.
        return offset - 1 if offset and self.text[offset - 1 : offset + 1] == "\r\n" else offset

    def change(self) -> dict[str, Any]:
        self.version += 1
        kind = self.chance.random()
        if kind < 0.08 or len(self.text) > 20_000:
            text = (
                self.past.pop(self.chance.randrange(len(self.past)))
                if self.past and kind < 0.05
                else self.chance.choice(TEXTS)
            )
            self.text = text
            return {"text": text}
        if self.chance.random() < 0.05:
            self.past.append(self.text)
        start, end = sorted((self.somewhere(), self.somewhere()))
        end = min(end, start + self.chance.choice((0, 0, 0, 1, 1, 3, 40)))
        if self.text[end - 1 : end + 1] == "\r\n":
            end = max(start, end - 1)
        new = "" if kind < 0.35 else self.chance.choice(PIECES)
        if kind > 0.95:
            other = self.chance.choice(TEXTS)
            new = other[len(other) // 2 :]
        span = {"start": self.position(start), "end": self.position(end)}
        self.text = self.text[:start] + new + self.text[end:]
        return {"range": span, "text": new}


def parameters(editor: Editor, method: str) -> dict[str, Any]:
    place = editor.position(editor.somewhere())
    span = {"start": {"line": 0, "character": 0}, "end": place}
    context: dict[str, Any] = {"textDocument/references": {"includeDeclaration": True}}.get(method, {"diagnostics": []})
    found: dict[str, Any] = {
        "textDocument": {"uri": URI},
        "position": place,
        "positions": [place],
        "range": span,
        "options": {"tabSize": 2, "insertSpaces": True},
    }
    return found if method == "textDocument/completion" else {**found, "context": context}


async def run(encoding: str, seed: int, edits: int) -> list[int]:
    """Resident memory in KiB, measured along the way."""
    editor = Editor(random.Random(seed), encoding)
    wire = await Wire.start(command=SERVER)
    await wire.initialize(capabilities={"general": {"positionEncodings": [encoding]}})
    item = {"uri": URI, "languageId": "json", "version": 1, "text": editor.text}
    wire.send("textDocument/didOpen", {"textDocument": item})
    memory: list[int] = []
    pending = 0
    for number in range(edits):
        change = editor.change()
        wire.send(
            "textDocument/didChange",
            {"textDocument": {"uri": URI, "version": editor.version}, "contentChanges": [change]},
        )
        if editor.chance.random() < 0.5:
            method = editor.chance.choice(REQUESTS)
            wire.send(method, parameters(editor, method), number)
            pending += 1
            if editor.chance.random() < 0.2:
                wire.send("$/cancelRequest", {"id": number})
        if pending >= 20:
            pending = await settle(wire, pending)
        if number % 500 == 499:
            memory.append(resident(wire.process.pid))
    await settle(wire, pending)
    wire.send("textDocument/didOpen", {"textDocument": {**item, "uri": FRESH, "text": editor.text}})
    edited, fresh = None, None
    while fresh is None or edited is None:
        published = await wire.notification("textDocument/publishDiagnostics")
        if published["uri"] == FRESH:
            fresh = published["diagnostics"]
            wire.send("textDocument/didChange", {"textDocument": {"uri": URI, "version": 10**6}, "contentChanges": []})
        elif published["version"] == 10**6:
            edited = published["diagnostics"]
    assert plain(edited) == plain(fresh)
    assert await wire.end() == 0
    assert wire.process.stderr is not None
    log = (await wire.process.stderr.read()).decode()
    assert "ERROR" not in log, log[-3000:]
    return memory


async def settle(wire: Wire, pending: int) -> int:
    """Take answers until all pending requests are answered; none may be a defect of the server."""
    while pending:
        message = await wire.receive()
        if "id" in message and "method" not in message:
            pending -= 1
            if "error" in message:
                assert message["error"]["code"] in (-32800, -32801), message
    return 0


def plain(diagnostics: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [(item["code"], item["message"], str(item["range"])) for item in diagnostics]


def resident(process: int) -> int:
    try:
        with open(f"/proc/{process}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024
    except OSError:
        return 0


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
async def test_random_edits(encoding: str) -> None:
    memory = await asyncio.wait_for(run(encoding, 20_240_601, EDITS), 60 + EDITS)
    if EDITS >= 10_000 and sys.platform == "linux":
        assert memory[-1] <= memory[1] * 1.05, memory
