"""Python code is interpreted in a process beside the server, which survives its end and takes it along."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from neurarch_lsp.features.python_models import read
from neurarch_lsp.lsp import interpreter_process
from neurarch_lsp.lsp.interpreter_process import InterpreterProcess
from neurarch_schemas.interpreter import SourceCache

from .test_python_models import GPT, TOTAL
from .wire import Wire

URI = "file:///nowhere/process/gpt.py"
ELSEWHERE = """
import sys
from neurarch_lsp.features import python_models
def read(*_):
    raise AssertionError("interpreted in the server")
python_models.read = read
from neurarch_lsp.__main__ import main
sys.exit(main([]))
"""


def test_the_same_as_in_this_process() -> None:
    process = InterpreterProcess()
    try:
        assert process("/nowhere/gpt.py", GPT, [], False) == read("/nowhere/gpt.py", GPT, [], False, SourceCache())
    finally:
        process.end()


def test_a_child_that_ends_fails_one_call_and_the_next_starts_another(monkeypatch: pytest.MonkeyPatch) -> None:
    process = InterpreterProcess()
    try:
        with monkeypatch.context() as patch:
            patch.setattr(interpreter_process, "COMMAND", (sys.executable, "-c", "input()"))
            with pytest.raises(RuntimeError, match="ended"):
                process("/nowhere/gpt.py", GPT, [], False)
        assert process("/nowhere/gpt.py", GPT, [], False).classes
    finally:
        process.end()


def test_nothing_of_the_working_folder_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("pickle", "ast", "re", "neurarch_lsp"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('imported from the working folder')\n")
    monkeypatch.chdir(tmp_path)
    process = InterpreterProcess()
    try:
        assert process("/nowhere/gpt.py", GPT, [], False).sound
    finally:
        process.end()


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is looked up in /proc")
def test_edited_texts_are_not_kept() -> None:
    code = GPT + "".join(
        f"\n\ndef function_{number}(a, b=({number}, [a for a in range(3)])):\n    return a\n" for number in range(2000)
    )
    process = InterpreterProcess()
    try:
        memory = []
        for number in range(12):
            process("/nowhere/gpt.py", f"{code}\n# {number}\n", [], False)
            assert process._child is not None
            memory.append(int(Path(f"/proc/{process._child.pid}/statm").read_text().split()[1]))
    finally:
        process.end()
    assert memory[-1] < max(memory[:5]) * 1.2, memory


async def opened(command: list[str] | None = None) -> Wire:
    wire = await Wire.start(command=command)
    await wire.initialize()
    item = {"uri": URI, "languageId": "python", "version": 1, "text": GPT}
    wire.send("textDocument/didOpen", {"textDocument": item})
    wire.send("textDocument/codeLens", {"textDocument": {"uri": URI}}, "lens")
    titles = [lens["command"]["title"] for lens in (await wire.answer("lens"))["result"]]
    assert any(f"{TOTAL / 1000:.0f}" in title or f"{TOTAL:,}" in title for title in titles), titles
    return wire


@pytest.mark.asyncio
async def test_the_server_itself_interprets_nothing() -> None:
    wire = await opened([sys.executable, "-c", ELSEWHERE])
    assert await wire.end() == 0


@pytest.mark.asyncio
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="children are looked up in /proc")
@pytest.mark.parametrize("killed", [False, True], ids=["ended", "killed"])
async def test_it_ends_with_the_server(killed: bool) -> None:
    wire = await opened()
    threads = Path(f"/proc/{wire.process.pid}/task").iterdir()
    children = [child for thread in threads for child in (thread / "children").read_text().split()]
    assert len(children) == 1
    if killed:
        wire.kill()
        await wire.code()
    else:
        assert await wire.end() == 0
    for _ in range(500):
        if not _runs(children[0]):
            break
        await asyncio.sleep(0.02)
    assert not _runs(children[0])


def _runs(process: str) -> bool:
    """Not when it is gone, or ended and only waits for whoever inherits it."""
    try:
        os.kill(int(process), 0)
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
