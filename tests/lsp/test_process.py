"""The server as a process: its stream, its errors and its end."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from . import samples
from .clients import SECONDS
from .wire import Wire

pytestmark = pytest.mark.asyncio


@pytest_asyncio.fixture
async def wire() -> AsyncIterator[Wire]:
    started = await Wire.start()
    yield started
    started.kill()


def opened(text: str, uri: str = "file:///nowhere/wire/config.json") -> dict[str, object]:
    return {"textDocument": {"uri": uri, "languageId": "json", "version": 1, "text": text}}


async def test_ends_with_0_after_shutdown_and_1_without(wire: Wire) -> None:
    await wire.initialize()
    assert await wire.end() == 0
    other = await Wire.start()
    await other.initialize()
    other.send("exit", None)
    assert await other.code() == 1


async def test_ends_when_the_input_ends(wire: Wire) -> None:
    await wire.initialize()
    assert wire.process.stdin is not None
    wire.process.stdin.close()
    assert await wire.code() == 1


async def test_ends_when_the_editor_dies(wire: Wire) -> None:
    editor = await asyncio.create_subprocess_exec(sys.executable, "-c", "input()", stdin=asyncio.subprocess.PIPE)
    await wire.initialize(processId=editor.pid)
    editor.kill()
    await editor.wait()
    assert await wire.code() == 1


async def test_what_code_prints_does_not_reach_the_protocol() -> None:
    """Neither print, nor a write to the descriptor, nor a child process may break the stream."""
    program = (
        "import sys, os, subprocess\n"
        "from neurarch_lsp.lsp import job\n"
        "before = job.run\n"
        "def noisy(*arguments):\n"
        "    print('from print'); os.write(1, b'from the descriptor'); subprocess.run(['echo', 'from a child'])\n"
        "    return before(*arguments)\n"
        "job.run = noisy\n"
        "from neurarch_lsp.__main__ import main\n"
        "sys.exit(main([]))\n"
    )
    noisy = await Wire.start(command=[sys.executable, "-c", program])
    await noisy.initialize()
    noisy.send("textDocument/didOpen", opened(samples.text(samples.LLAMA)))
    assert (await noisy.notification("textDocument/publishDiagnostics"))["version"] == 1
    assert await noisy.end() == 0
    assert noisy.process.stderr is not None
    written = await noisy.process.stderr.read()
    assert b"from print" in written
    assert b"from the descriptor" in written


@pytest.mark.parametrize(
    "noise",
    [
        b"Content-Length: 5\r\n\r\nhello",
        b"Content-Length: 2\r\n\r\n[]",
        b"Content-Length: 2\r\n\r\n{}",
        b"garbage\r\n\r\n",
        b"Content-Length: nonsense\r\n\r\n",
        b"X-Other: 1\r\nContent-Length: 4\r\n\r\nnull",
        b'Content-Length: 39\r\n\r\n{"jsonrpc":"2.0","id":99,"result":null}',
        b'Content-Length: 70\r\n\r\n{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"unknown"}} ',
    ],
)
async def test_noise_is_survived(wire: Wire, noise: bytes) -> None:
    await wire.initialize()
    wire.write(noise)
    wire.send("textDocument/didOpen", opened("{"))
    assert (await wire.notification("textDocument/publishDiagnostics"))["version"] == 1
    assert await wire.end() == 0


async def test_a_request_that_cannot_be_understood_is_answered(wire: Wire) -> None:
    await wire.initialize()
    wire.send("textDocument/hover", {"position": "nonsense"}, 1)
    assert (await wire.answer(1))["error"]["code"] in (-32602, -32603)
    wire.send("textDocument/unheardOf", {}, 2)
    assert (await wire.answer(2))["error"]["code"] == -32601
    wire.send(
        "textDocument/hover",
        {"textDocument": {"uri": "file:///not/open.json"}, "position": {"line": 0, "character": 0}},
        3,
    )
    assert (await wire.answer(3))["result"] is None
    assert await wire.end() == 0


async def test_a_defect_in_one_request_fails_alone() -> None:
    program = (
        "import sys\n"
        "from neurarch_lsp.render import hover\n"
        "def broken(*arguments): raise ZeroDivisionError('a defect')\n"
        "hover.hover = broken\n"
        "from neurarch_lsp.__main__ import main\n"
        "sys.exit(main([]))\n"
    )
    wire = await Wire.start(command=[sys.executable, "-c", program])
    await wire.initialize()
    wire.send("textDocument/didOpen", opened(samples.text(samples.LLAMA)))
    place = {"textDocument": {"uri": "file:///nowhere/wire/config.json"}, "position": {"line": 0, "character": 0}}
    wire.send("textDocument/hover", place, 1)
    assert (await wire.answer(1))["error"]["code"] == -32603
    wire.send("textDocument/foldingRange", {"textDocument": place["textDocument"]}, 2)
    assert (await wire.answer(2))["result"]
    assert await wire.end() == 0
    assert wire.process.stderr is not None
    log = (await wire.process.stderr.read()).decode()
    assert "textDocument/hover failed on file:///nowhere/wire/config.json" in log
    assert "ZeroDivisionError: a defect" in log


async def test_a_defect_in_the_analysis_is_one_diagnostic() -> None:
    program = (
        "import sys\n"
        "from neurarch_rules.engine import run\n"
        "def broken(*arguments, **named): raise ZeroDivisionError('a defect')\n"
        "run.run = broken\n"
        "from neurarch_lsp.__main__ import main\n"
        "sys.exit(main([]))\n"
    )
    wire = await Wire.start(command=[sys.executable, "-c", program])
    await wire.initialize()
    wire.send("textDocument/didOpen", opened(samples.text(samples.LLAMA)))
    (item,) = (await wire.notification("textDocument/publishDiagnostics"))["diagnostics"]
    assert item["code"] == "internal-error"
    assert await wire.end() == 0


async def test_over_tcp() -> None:
    wire = await Wire.start("--tcp", "127.0.0.1:0")
    assert wire.process.stderr is not None
    line = (await asyncio.wait_for(wire.process.stderr.readline(), SECONDS)).decode()
    port = int(line.rpartition(":")[2])
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    remote = Wire(wire.process)
    remote.write = writer.write  # type: ignore[method-assign]  # the same framing over a socket
    wire.process.stdout = reader
    assert "capabilities" in (await remote.initialize())["result"]
    assert await remote.end() == 0
    writer.close()


@pytest.mark.parametrize("address", ["nonsense", "host:", "host:99999"])
async def test_a_wrong_address_is_a_usage_error(address: str) -> None:
    wire = await Wire.start("--tcp", address)
    assert await wire.code() == 2


async def test_nothing_is_imported_that_initialize_does_not_need() -> None:
    """Rules, pydantic, numpy and the like come after the answer to initialize."""
    program = (
        "import sys\n"
        "from neurarch_lsp.lsp import server, registration, commands\n"
        "heavy = [name for name in sys.modules if name.split('.')[0] in\n"
        "         ('pydantic', 'numpy', 'jsonschema', 'tree_sitter') or name.startswith('neurarch_rules.rules.')]\n"
        "print(heavy)\n"
    )
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", program, stdout=asyncio.subprocess.PIPE)
    output, _ = await asyncio.wait_for(process.communicate(), SECONDS)
    assert output.decode().strip() == "[]"


COMMANDS_KEPT = """
import sys
from neurarch_lsp.lsp import commands
async def kept(server, arguments):
    return len(server.protocol._request_futures)
commands.COMMANDS["neurarch.status"] = kept
from neurarch_lsp.__main__ import main
sys.exit(main([]))
"""


@pytest.mark.asyncio
async def test_what_commands_gave_is_not_kept() -> None:
    wire = await Wire.start(command=[sys.executable, "-c", COMMANDS_KEPT])
    await wire.initialize()
    kept = []
    for number in range(5):
        wire.send("workspace/executeCommand", {"command": "neurarch.status", "arguments": []}, f"status {number}")
        kept.append((await wire.answer(f"status {number}"))["result"])
    assert kept == [kept[0]] * 5
    assert await wire.end() == 0
