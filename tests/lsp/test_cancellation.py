"""Cancelled requests end while what they wait for still runs; other documents stay responsive meanwhile.

What is slow here runs until this test lets it end, so that the order of the answers says it all and no clock is asked;
``benchmarks/lsp_latency.py`` measures how soon they come.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from . import samples
from .wire import Wire

pytestmark = pytest.mark.asyncio

SLOW_ANALYSIS = """
import os, sys
from neurarch_rules.engine import run as engine
before = engine.run
def slow(analysis, options, rules=None, clock=None):
    if "slow" in analysis.document.uri:
        while not os.path.exists(sys.argv[1]):   # busy, like a long computation in Python
            clock()
    return before(analysis, options, rules, clock)
engine.run = slow
from neurarch_lsp.__main__ import main
sys.exit(main([]))
"""
SLOW_INTERPRETER = """
import os, sys, time
from neurarch_lsp.lsp.interpreter_process import InterpreterProcess
before = InterpreterProcess.__call__
def slow(self, path, text, *rest):
    while not os.path.exists(sys.argv[1]):
        time.sleep(0.005)
    return before(self, path, text, *rest)
InterpreterProcess.__call__ = slow
from neurarch_lsp.__main__ import main
sys.exit(main([]))
"""
SLOW, QUICK, CODE = (f"file:///nowhere/{name}" for name in ("slow/config.json", "quick/config.json", "code/model.py"))
CANCELLED = -32800


async def started(script: str, end: Path, *opened: tuple[str, str, str]) -> Wire:
    wire = await Wire.start(command=[sys.executable, "-c", script, str(end)])
    await wire.initialize()
    for uri, language, text in opened:
        item = {"uri": uri, "languageId": language, "version": 1, "text": text}
        wire.send("textDocument/didOpen", {"textDocument": item})
    return wire


def hover(wire: Wire, uri: str, identity: str) -> None:
    wire.send("textDocument/hover", {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 0}}, identity)


async def test_cancelled_while_the_analysis_runs(tmp_path: Path) -> None:
    end, text = tmp_path / "end", samples.text(samples.LLAMA)
    wire = await started(SLOW_ANALYSIS, end, (SLOW, "json", text), (QUICK, "json", text))
    hover(wire, SLOW, "cancelled")
    hover(wire, QUICK, "meanwhile")
    assert (await wire.answer("meanwhile"))["result"]
    wire.send("$/cancelRequest", {"id": "cancelled"})
    assert (await wire.answer("cancelled"))["error"]["code"] == CANCELLED
    # Closing the document ends the analysis, which nobody else wants, and who still waits is told that there is none.
    hover(wire, SLOW, "waiting")
    wire.send("textDocument/didClose", {"textDocument": {"uri": SLOW}})
    assert (await wire.answer("waiting"))["result"] is None
    assert not end.exists()
    assert await wire.end() == 0


async def test_a_newer_version_supersedes_a_running_analysis(tmp_path: Path) -> None:
    text = samples.text(samples.LLAMA)
    wire = await started(SLOW_ANALYSIS, tmp_path / "end", (SLOW, "json", text))
    hover(wire, SLOW, "first")
    # The text is no model's any more: its analysis, which is not slow, answers those who waited for the old one.
    change = {"textDocument": {"uri": SLOW, "version": 2}, "contentChanges": [{"text": "{}"}]}
    wire.send("textDocument/didChange", change)
    assert (await wire.answer("first"))["result"] is None
    assert await wire.end() == 0


async def test_many_requests_wait_for_the_interpreter_and_nothing_else_does(tmp_path: Path) -> None:
    end = tmp_path / "end"
    code = "import torch.nn as nn\n\n\nclass Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    code += "        self.proj = nn.Linear(8, 8)\n"
    wire = await started(SLOW_INTERPRETER, end, (CODE, "python", code), (QUICK, "json", samples.text(samples.LLAMA)))
    document = {"textDocument": {"uri": CODE}}
    for number in range(20):
        wire.send("textDocument/codeLens", document, f"lens {number}")
    hover(wire, QUICK, "meanwhile")
    assert (await wire.answer("meanwhile"))["result"]
    for number in range(19):
        wire.send("$/cancelRequest", {"id": f"lens {number}"})
        assert (await wire.answer(f"lens {number}"))["error"]["code"] == CANCELLED
    end.touch()
    lenses = (await wire.answer("lens 19"))["result"]
    assert any("72" in lens["command"]["title"] for lens in lenses), lenses
    assert await wire.end() == 0


async def test_many_code_actions_keep_no_other_request_waiting() -> None:
    """A client that resolves nothing later gets all edits at once, each the outcome of many rounds of linting."""
    text = samples.text(samples.LLAMA)
    commented = text.replace("{\n", "{\n" + "  // comment\n" * 500, 1)
    wire = await Wire.start()
    await wire.initialize()
    for uri, content in ((SLOW, commented), (QUICK, text)):
        item = {"uri": uri, "languageId": "json", "version": 1, "text": content}
        wire.send("textDocument/didOpen", {"textDocument": item})
    for uri in (SLOW, QUICK):
        hover(wire, uri, f"warm {uri}")
        await wire.answer(f"warm {uri}")
    whole = {"start": {"line": 0, "character": 0}, "end": {"line": 600, "character": 0}}
    wire.send(
        "textDocument/codeAction",
        {"textDocument": {"uri": SLOW}, "range": whole, "context": {"diagnostics": []}},
        "all",
    )
    hover(wire, QUICK, "hover")
    order = []
    while len(order) < 2:
        message = await wire.receive()
        if "id" in message and "method" not in message:
            order.append(message["id"])
            titles = [action["title"] for action in message["result"]] if message["id"] == "all" else []
            assert sum("Fix all json-comment" in title for title in titles) <= 1
    assert order == ["hover", "all"]
    assert await wire.end() == 0
