"""Random edits with every feature requested between them: nothing stale, nothing logged, the end as if opened afresh.

``NEURARCH_EDITS=10000`` makes the long run; memory, with that of the interpreter's process, must then stay flat.
``NEURARCH_SEED`` chooses other edits.
"""

from __future__ import annotations

import ast
import asyncio
import json
import os
import random
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from .clients import SERVER, split_lines, units
from .edited_kinds import CODE, CONFIG, OTHERS, Kind
from .wire import Wire

pytestmark = pytest.mark.asyncio

EDITS = int(os.environ.get("NEURARCH_EDITS", "300"))
SEED = int(os.environ.get("NEURARCH_SEED", "20240601"))
REQUESTS = tuple(
    f"textDocument/{name}"
    for name in (
        "hover", "completion", "inlayHint", "codeLens", "documentSymbol", "foldingRange", "selectionRange",
        "documentLink", "definition", "references", "documentHighlight", "codeAction", "formatting", "prepareRename",
        "rename",
    )
)  # fmt: skip
COMMANDS = ("neurarch.report", "neurarch.status", "neurarch.debugInformation")


class Editor:
    """A text and the edits of somebody in a hurry."""

    def __init__(self, chance: random.Random, encoding: str, kind: Kind) -> None:
        self.chance = chance
        self.encoding = encoding
        self.kind = kind
        self.text = kind.texts[0]
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
                else self.chance.choice(self.kind.texts)
            )
            self.text = text
            return {"text": text}
        if self.chance.random() < 0.05:
            self.past.append(self.text)
        start, end = sorted((self.somewhere(), self.somewhere()))
        end = min(end, start + self.chance.choice((0, 0, 0, 1, 1, 3, 40)))
        if self.text[end - 1 : end + 1] == "\r\n":
            end = max(start, end - 1)
        new = "" if kind < 0.35 else self.chance.choice(self.kind.pieces)
        if kind > 0.95:
            other = self.chance.choice(self.kind.texts)
            new = other[len(other) // 2 :]
        span = {"start": self.position(start), "end": self.position(end)}
        self.text = self.text[:start] + new + self.text[end:]
        return {"range": span, "text": new}


def parameters(uri: str, place: dict[str, int], method: str) -> dict[str, Any]:
    span = {"start": {"line": 0, "character": 0}, "end": place}
    document: dict[str, Any] = {"textDocument": {"uri": uri}}
    at = {**document, "position": place}
    return {
        "textDocument/references": {**at, "context": {"includeDeclaration": True}},
        "textDocument/selectionRange": {**document, "positions": [place]},
        "textDocument/inlayHint": {**document, "range": span},
        "textDocument/codeAction": {**document, "range": span, "context": {"diagnostics": []}},
        "textDocument/formatting": {**document, "options": {"tabSize": 2, "insertSpaces": True}},
        "textDocument/rename": {**at, "newName": "renamed"},
    }.get(method, at)


def ask(wire: Wire, editor: Editor, uri: str, number: int) -> None:
    """One request, of any feature or command."""
    if editor.chance.random() < 0.1:
        command = {"command": editor.chance.choice(COMMANDS), "arguments": [uri]}
        wire.send("workspace/executeCommand", command, number)
    else:
        method = editor.chance.choice(REQUESTS)
        wire.send(method, parameters(uri, editor.position(editor.somewhere()), method), number)


async def run(encoding: str, seed: int, edits: int, kind: Kind) -> list[int]:
    """Resident memory in KiB, measured along the way."""
    uri, fresh = kind.uri("random"), kind.uri("fresh")
    editor = Editor(random.Random(seed), encoding, kind)
    wire = await Wire.start(command=SERVER)
    await wire.initialize(capabilities={"general": {"positionEncodings": [encoding]}})
    await warm_up(wire, kind)
    wire.send(*kind.opening(uri, editor.text))
    memory: list[int] = []
    pending = 0
    for number in range(edits):
        change = editor.change()
        wire.send(*kind.changing(uri, editor.version, [change]))
        if editor.chance.random() < 0.5:
            ask(wire, editor, uri, number)
            pending += 1
            if editor.chance.random() < 0.2:
                wire.send("$/cancelRequest", {"id": number})
        if pending >= 20:
            pending = await settle(wire, pending)
        if number % 500 == 499:
            memory.append(resident(wire.process.pid))
    await settle(wire, pending)
    wire.send(*kind.opening(fresh, editor.text))
    await compare_diagnostics(wire, kind, uri, fresh)
    for method in REQUESTS:
        # While Python cannot be parsed, what its last readable state built is shown: a fresh document has none.
        if not kind.is_code or parses(editor.text):
            for _ in range(5):
                await compare_answers(wire, uri, fresh, method, editor.position(editor.somewhere()))
    assert await wire.end() == 0
    assert wire.process.stderr is not None
    log = (await wire.process.stderr.read()).decode()
    assert "ERROR" not in log, log[-3000:]
    assert "Traceback" not in log, log[-3000:]
    return memory


async def warm_up(wire: Wire, kind: Kind) -> None:
    """Everything is asked for once, so that what is loaded when first needed does not count as growth."""
    for number, text in enumerate(kind.texts):
        uri = kind.uri(f"warm-{number}")
        wire.send(*kind.opening(uri, text))
        for method in REQUESTS:
            wire.send(method, parameters(uri, {"line": 2, "character": 5}, method), f"{uri} {method}")
        for command in COMMANDS:
            wire.send("workspace/executeCommand", {"command": command, "arguments": [uri]}, f"{uri} {command}")
        await settle(wire, len(REQUESTS) + len(COMMANDS))
        wire.send("textDocument/didClose", {"textDocument": {"uri": uri}})


async def compare_diagnostics(wire: Wire, kind: Kind, edited: str, fresh: str) -> None:
    """What is published for both is the same; the edited one is asked for by an edit that changes nothing."""
    found: dict[str, Any] = {}
    while set(found) != {edited, fresh}:
        published = await wire.notification("textDocument/publishDiagnostics")
        if published["uri"] == fresh:
            found[fresh] = plain(published["diagnostics"])
            wire.send(*kind.changing(edited, 10**6, []))
        elif published["version"] == 10**6:
            found[edited] = plain(published["diagnostics"])
    assert found[edited] == found[fresh]


async def compare_answers(wire: Wire, edited: str, fresh: str, method: str, place: dict[str, int]) -> None:
    answers = []
    for uri in (edited, fresh):
        wire.send(method, parameters(uri, place, method), f"{method} {uri}")
        answer = await wire.answer(f"{method} {uri}")
        assert "error" not in answer, answer
        answers.append(json.dumps(answer["result"], sort_keys=True).replace(edited, fresh))
    assert re.sub(r'"version": \d+', "", answers[0]) == re.sub(r'"version": \d+', "", answers[1]), method


def parses(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return True


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
    """KiB of a process with its children."""
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()[1])
        threads = list(Path(f"/proc/{process}/task").iterdir())
        children = [child for thread in threads for child in (thread / "children").read_text().split()]
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE") // 1024 + sum(resident(int(child)) for child in children)


@pytest.mark.parametrize("kind", [CONFIG, CODE], ids=lambda kind: kind.name)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
async def test_random_edits(encoding: str, kind: Kind) -> None:
    memory = await asyncio.wait_for(run(encoding, SEED, EDITS, kind), 60 + EDITS)
    if EDITS >= 10_000 and sys.platform == "linux":
        print(f"{kind.name} {encoding}: {memory} KiB, one figure every 500 edits")
        assert memory[-1] <= memory[1] * 1.05, memory


@pytest.mark.parametrize("kind", OTHERS, ids=lambda kind: kind.name)
async def test_random_edits_of_other_kinds(kind: Kind) -> None:
    await asyncio.wait_for(run("utf-16", SEED, EDITS, kind), 60 + EDITS)
