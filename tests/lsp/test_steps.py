"""Work that is given up when nobody waits for it, that steps aside for the event loop, and answers encoded in parts."""

from __future__ import annotations

import asyncio
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any, cast

import pytest
from lsprotocol import converters, types

from neurarch_lsp.features import formatting, outline
from neurarch_lsp.features.poll import Poll, never
from neurarch_lsp.lsp.encoded import AT_ONCE, encoded
from neurarch_lsp.lsp.loop_turn import LoopTurn
from neurarch_lsp.lsp.requests import Abandoned, in_steps
from neurarch_lsp.lsp.server import NeurarchServer
from neurarch_lsp.lsp.transport import PipeWriter
from neurarch_schemas.documents.json_document import JsonDocument

LARGE = json.dumps({"a": {f"k{number}": {"x": [number, {}]} for number in range(500)}}, indent=1)


class Enough(Exception):
    pass


def stops_after(steps: int) -> Poll:
    left = [steps]

    def poll() -> None:
        left[0] -= 1
        if left[0] < 0:
            raise Enough

    return poll


@pytest.mark.parametrize("reads", [outline.folds, outline.symbols, formatting.formatted])
def test_what_reads_a_whole_document_can_be_stopped_soon(reads: Any) -> None:
    document = JsonDocument.parse(LARGE, "config.json")
    arguments = () if reads is formatting.formatted else (None,)
    reads(document, *arguments, never)
    with pytest.raises(Enough):
        reads(document, *arguments, stops_after(20))


@pytest.mark.asyncio
async def test_work_of_a_cancelled_request_ends_at_its_next_step() -> None:
    began, ended = threading.Event(), threading.Event()
    outcomes: list[str] = []

    def endless(poll: Poll) -> None:
        began.set()
        try:
            while True:
                poll()
        except Abandoned:
            outcomes.append("abandoned")
            ended.set()
            raise

    with ThreadPoolExecutor(1) as pool:
        server = cast("NeurarchServer", SimpleNamespace(pool=pool, turn=LoopTurn()))
        task = asyncio.ensure_future(in_steps(server, endless))
        while not began.is_set():
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert ended.wait(10)
    assert outcomes == ["abandoned"]


@pytest.mark.asyncio
async def test_workers_step_aside_until_the_messages_are_handled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("neurarch_lsp.lsp.loop_turn.MOST_SECONDS", 60)
    turn = LoopTurn()
    turn.poll()  # no message: nothing to wait for
    turn.begin()
    worker = asyncio.ensure_future(asyncio.to_thread(turn.poll))
    for _ in range(20):
        await asyncio.sleep(0.001)
        assert not worker.done()
    turn.end()
    await asyncio.wait_for(worker, 10)


@pytest.mark.parametrize("count", [0, 1, AT_ONCE, 2 * AT_ONCE + 3])
def test_an_answer_encoded_in_parts_is_the_whole(count: int) -> None:
    converter = converters.get_converter()
    folds = [types.FoldingRange(number, number + 1) for number in range(count)]
    assert json.loads(encoded(folds, converter.unstructure, never)) == converter.unstructure(folds)
    with pytest.raises(Enough):
        encoded(folds * 10 if folds else [0], converter.unstructure, stops_after(0))


def test_other_answers_are_encoded_as_they_are() -> None:
    converter = converters.get_converter()
    hover = types.Hover(types.MarkupContent(types.MarkupKind.Markdown, "混🤖"))
    assert json.loads(encoded(hover, converter.unstructure, never)) == converter.unstructure(hover)
    assert encoded(None, converter.unstructure, never) == b"null"


@pytest.mark.asyncio
async def test_answers_that_are_ready_together_are_written_together() -> None:
    class Stream:
        def __init__(self) -> None:
            self.writes: list[bytes] = []

        def write(self, data: bytes) -> None:
            self.writes.append(data)

        def flush(self) -> None:
            pass

    stream = Stream()
    writer = PipeWriter(cast(Any, stream))
    for data in (b"a", b"b", b"c"):
        writer.write(data)
    await asyncio.sleep(0)
    assert stream.writes == [b"abc"]
    writer.write(b"d")
    writer.flush()  # the session ends here: nothing is left behind
    await asyncio.sleep(0)
    assert b"".join(stream.writes) == b"abcd"
