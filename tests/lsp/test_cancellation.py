"""Cancelled requests end at once; other documents stay responsive while one is slow."""

from __future__ import annotations

import sys
import time

import pytest

from . import samples
from .wire import Wire

pytestmark = pytest.mark.asyncio

SLOW = """
import sys, time
from neurarch_rules.engine import run as engine
before = engine.run
def slow(analysis, options, rules=None, clock=None):
    if "slow" in analysis.document.uri:
        end = time.monotonic() + 3
        while time.monotonic() < end:   # busy, like a long computation in Python
            clock()
    return before(analysis, options, rules, clock)
engine.run = slow
from neurarch_lsp.__main__ import main
sys.exit(main([]))
"""


async def test_a_cancelled_request_ends_within_50_ms_and_others_are_answered_meanwhile() -> None:
    wire = await Wire.start(command=[sys.executable, "-c", SLOW])
    await wire.initialize()
    text = samples.text(samples.LLAMA)
    slow, quick = "file:///nowhere/slow/config.json", "file:///nowhere/quick/config.json"
    for uri in (quick, slow):
        wire.send(
            "textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "json", "version": 1, "text": text}}
        )
    place = {"textDocument": {"uri": quick}, "position": {"line": 0, "character": 0}}
    wire.send("textDocument/hover", place, "warm")
    assert (await wire.answer("warm"))["result"]

    wire.send("textDocument/hover", {**place, "textDocument": {"uri": slow}}, "cancelled")
    wire.send("textDocument/hover", place, "meanwhile")
    assert (await wire.answer("meanwhile"))["result"]
    started = time.perf_counter()
    wire.send("$/cancelRequest", {"id": "cancelled"})
    answer = await wire.answer("cancelled")
    elapsed = time.perf_counter() - started
    assert answer["error"]["code"] == -32800
    assert elapsed < 0.05 * 4, f"{elapsed * 1000:.0f} ms (50 on a machine that is not shared)"

    # A newer version supersedes the slow analysis instead of waiting three seconds for it.
    started = time.perf_counter()
    wire.send("textDocument/didClose", {"textDocument": {"uri": slow}})
    wire.send("textDocument/hover", {**place, "textDocument": {"uri": slow}}, "closed")
    assert (await wire.answer("closed"))["result"] is None
    assert time.perf_counter() - started < 1
    assert await wire.end() == 0
