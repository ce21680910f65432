"""Python code is interpreted in a process beside the server, which survives its end and takes it along."""

from __future__ import annotations

import asyncio
import json
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
read.__module__, python_models.read = python_models.__name__, read
from neurarch_lsp.__main__ import main
sys.exit(main([]))
"""


def test_the_same_as_in_this_process() -> None:
    process = InterpreterProcess()
    try:
        assert process(read, "/nowhere/gpt.py", GPT, [], False) == read(
            "/nowhere/gpt.py", GPT, [], False, SourceCache()
        )
    finally:
        process.end()


def test_a_child_that_ends_fails_one_call_and_the_next_starts_another(monkeypatch: pytest.MonkeyPatch) -> None:
    process = InterpreterProcess()
    try:
        with monkeypatch.context() as patch:
            patch.setattr(interpreter_process, "COMMAND", (sys.executable, "-c", "input()"))
            with pytest.raises(RuntimeError, match="ended"):
                process(read, "/nowhere/gpt.py", GPT, [], False)
        assert process(read, "/nowhere/gpt.py", GPT, [], False).classes
    finally:
        process.end()


def test_nothing_of_the_working_folder_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("pickle", "ast", "re", "neurarch_lsp"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('imported from the working folder')\n")
    monkeypatch.chdir(tmp_path)
    process = InterpreterProcess()
    try:
        assert process(read, "/nowhere/gpt.py", GPT, [], False).sound
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
            process(read, "/nowhere/gpt.py", f"{code}\n# {number}\n", [], False)
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


REMOTE = {
    "model_type": "tiny_remote",
    "architectures": ["TinyModel"],
    "auto_map": {"AutoConfig": "configuration_tiny.TinyConfig", "AutoModel": "modeling_tiny.TinyModel"},
    "hidden_size": 8,
}
REMOTE_CONFIGURATION = """
from transformers import PretrainedConfig

class TinyConfig(PretrainedConfig):
    model_type = "tiny_remote"
    def __init__(self, hidden_size=4, **kwargs):
        self.hidden_size = hidden_size
        super().__init__(**kwargs)
"""
REMOTE_MODEL = """
from torch import nn
from transformers import PreTrainedModel
from .configuration_tiny import TinyConfig

class TinyModel(PreTrainedModel):
    config_class = TinyConfig
    def __init__(self, config):
        super().__init__(config)
        self.projection = nn.Linear(config.hidden_size, config.hidden_size)
"""
NOT_HERE = """
import sys
from neurarch_schemas.interpreter import interpretation
def interpret(*_, **__):
    raise AssertionError("interpreted in the server")
interpretation.interpret = interpret
from neurarch_lsp.__main__ import main
sys.exit(main([]))
"""


def _repository(folder: Path, model: str = REMOTE_MODEL) -> str:
    (folder / "configuration_tiny.py").write_text(REMOTE_CONFIGURATION)
    (folder / "modeling_tiny.py").write_text(model)
    (folder / "config.json").write_text(json.dumps(REMOTE))
    return (folder / "config.json").as_uri()


async def _lens(wire: Wire, uri: str, text: str) -> str:
    item = {"uri": uri, "languageId": "json", "version": 1, "text": text}
    wire.send("textDocument/didOpen", {"textDocument": item})
    wire.send("textDocument/codeLens", {"textDocument": {"uri": uri}}, "lens")
    (lens,) = (await wire.answer("lens"))["result"]
    return str(lens["command"]["title"])


@pytest.mark.asyncio
async def test_code_beside_a_config_is_interpreted_there_too(tmp_path: Path) -> None:
    uri = _repository(tmp_path)
    wire = await Wire.start(command=[sys.executable, "-c", NOT_HERE])
    await wire.initialize()
    assert "72 parameters" in await _lens(wire, uri, json.dumps(REMOTE))
    assert await wire.end() == 0


@pytest.mark.asyncio
async def test_a_child_that_fails_leaves_a_reason(tmp_path: Path) -> None:
    uri = _repository(tmp_path)
    broken = "from neurarch_lsp.lsp import interpreter_process\ninterpreter_process.COMMAND = ('false',)\n"
    wire = await Wire.start(command=[sys.executable, "-c", broken + NOT_HERE])
    await wire.initialize()
    assert "parameters" not in await _lens(wire, uri, json.dumps(REMOTE))
    wire.send("workspace/executeCommand", {"command": "neurarch.status", "arguments": [uri]}, "status")
    status = (await wire.answer("status"))["result"]
    assert "could not be followed" in status["detail"], status
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
