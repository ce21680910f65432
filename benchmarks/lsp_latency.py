"""Latency of the language server: start, edit to diagnostics, hover, completion, the end of cancelled requests, hover
while a long Python file is interpreted; memory over many edits.

Usage: python benchmarks/lsp_latency.py [--json-server COMMAND] [--large CONFIG] [--python FILE] [--edits N]

``--json-server`` is vscode-json-language-server, measured on the same file in the same run. ``--large`` is a config of
a few MB, ``--python`` model code of a few thousand lines; without them they are made.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness import HEADER, Timing, command, row
from lsp_client import LspClient

ROOT = Path(__file__).resolve().parent.parent
SERVER = [sys.executable, "-m", "neurarch_lsp"]
URI = "file:///nowhere/benchmark/config.json"
PYTHON_URI = "file:///nowhere/benchmark/modeling.py"


def typing(client: LspClient, text: str, edits: int, uri: str = URI) -> Timing:
    """One digit of the layer count typed and removed in turn, as a person does; the first edits are not counted."""
    lines = text.split("\n")
    line = next(number for number, content in enumerate(lines) if '"num_hidden_layers"' in content)
    return typing_at(client, text, edits, uri, line, len(lines[line].rstrip(",\r")))


def typing_at(
    client: LspClient,
    text: str,
    edits: int,
    uri: str,
    line: int,
    character: int,
    typed: str = "1",
    language: str = "json",
) -> Timing:
    client.open(uri, text, language)
    found = []
    for number in range(edits + 10):
        removed, new = (0, typed) if number % 2 == 0 else (len(typed), "")
        seconds = client.edit(uri, number + 2, line, character, removed, new)
        if number >= 10:
            found.append(seconds)
    return Timing(tuple(sorted(found)))


def timed(call: Callable[[], object], runs: int = 200) -> Timing:
    found = []
    for _ in range(runs):
        started = time.perf_counter()
        call()
        found.append(time.perf_counter() - started)
    return Timing(tuple(sorted(found)))


def figures(timing: Timing) -> str:
    middle, high, worst = (1000 * timing.percentile(percent) for percent in (50, 95, 99))
    return f"p50 {middle:.1f} ms, p95 {high:.1f}, p99 {worst:.1f}"


def layered(layers: int = 60) -> str:
    config = json.loads((ROOT / "examples" / "heron-moe-230b" / "config.json").read_text(encoding="utf-8"))
    config["num_hidden_layers"] = layers
    return json.dumps(config, indent=2) + "\n"


def large() -> str:
    """About 3 MB: 22,000 quantized layers beside a small model."""
    config = json.loads(layered())
    config["quantization_config"] = {
        "quant_method": "modelopt",
        "quantized_layers": {
            f"model.layers.{number // 370}.block_sparse_moe.experts.{number % 370}.gate_up_proj": {
                "quant_algo": "NVFP4",
                "group_size": 16,
                "pre_quant_scale": False,
            }
            for number in range(22_000)
        },
    }
    return json.dumps(config, indent=2) + "\n"


PYTHON_HEAD = """\
import torch
import torch.nn as nn
from dataclasses import dataclass

"""
PYTHON_FAMILY = """
@dataclass
class Config{0}:
    hidden_size: int = 512
    layers: int = 48
    experts: int = 16
    vocab_size: int = 32000


class Attention{0}(nn.Module):
    def __init__(self, config, index):
        super().__init__()
        self.index = index
        self.query = nn.Linear(config.hidden_size, config.hidden_size)
        self.key = nn.Linear(config.hidden_size, config.hidden_size // 4, bias=index % 2 == 0)
        self.value = nn.Linear(config.hidden_size, config.hidden_size // 4)
        self.output = nn.Linear(config.hidden_size, config.hidden_size)

    def forward(self, states):
        query = self.query(states)
        scores = query @ self.key(states).transpose(-1, -2)
        return self.output(torch.softmax(scores, dim=-1) @ self.value(states))


class Expert{0}(nn.Module):
    def __init__(self, width, factor):
        super().__init__()
        self.up = nn.Linear(width, sum(width for _ in range(factor)))
        self.down = nn.Linear(factor * width, width)

    def forward(self, states):
        return self.down(torch.relu(self.up(states)))


class Layer{0}(nn.Module):
    def __init__(self, config, index):
        super().__init__()
        self.attention = Attention{0}(config, index)
        self.experts = nn.ModuleList(Expert{0}(config.hidden_size, 1 + index % 4) for _ in range(config.experts))
        self.norms = nn.ModuleDict({{name: nn.LayerNorm(config.hidden_size) for name in ("before", "after")}})

    def forward(self, states):
        return states + self.attention(states)


class Model{0}(nn.Module):
    def __init__(self, config: Config{0}):
        super().__init__()
        self.embedding = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = nn.ModuleList([Layer{0}(config, index) for index in range(config.layers)])
        self.head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, tokens):
        states = self.embedding(tokens)
        for layer in self.layers:
            states = layer(states)
        return self.head(states)
"""


def python_model(lines: int = 3_000) -> str:
    """Model code of at least so many lines, which takes seconds to interpret."""
    families = -(-lines // PYTHON_FAMILY.count("\n"))
    return PYTHON_HEAD + "".join(PYTHON_FAMILY.format(number) for number in range(families))


def while_interpreting(config: str, code: str, place: dict[str, Any]) -> tuple[Timing, float]:
    """Hovers on a config from the moment a Python file is opened until its lenses are there; and how long that took."""
    client = LspClient(SERVER)
    client.open(URI, config)
    client.request("textDocument/hover", place)
    item = {"uri": PYTHON_URI, "languageId": "python", "version": 1, "text": code}
    started = time.perf_counter()
    client.notify("textDocument/didOpen", {"textDocument": item})
    lens = client.ask("textDocument/codeLens", {"textDocument": {"uri": PYTHON_URI}})
    found = []
    while lens not in client.ended:
        asked = time.perf_counter()
        client.request("textDocument/hover", place)
        found.append(time.perf_counter() - asked)
    seconds = time.perf_counter() - started
    client.end()
    return Timing(tuple(sorted(found))), seconds


CALL = """
from transformers import LlamaConfig

config = LlamaConfig(
    hidden_size=4096, num_attention_heads=32, num_key_value_heads=5, intermediate_size=1100,
    hidden_act="sillu", max_position_embeddings=4096, num_hidden_layers=3
)
"""


def typing_python(code: str, edits: int) -> list[tuple[str, Timing]]:
    """In a function in the middle of model code, and in a config call at its end: a value, and what breaks the call."""
    text = code.rstrip("\n") + "\n" + CALL
    lines = text.split("\n")
    middle = next(at for at, line in enumerate(lines) if at > len(lines) // 2 and line.startswith("        self."))
    call = next(at for at, line in enumerate(lines) if "num_hidden_layers=3" in line)
    found = []
    for name, line, character, typed in (
        ("a method", middle, 13, "x"),
        ("a config call", call, len(lines[call]), "2"),
        ("a config call, breaking it", call, len(lines[call]), ", num_hid("),
    ):
        client = LspClient(SERVER)
        found.append((name, typing_at(client, text, edits, PYTHON_URI, line, character, typed, "python")))
        client.end()
    return found


REQUESTS = ("hover", "codeLens", "documentSymbol", "inlayHint", "foldingRange", "completion")


def cancelling(uri: str, language: str, text: str, line: int, runs: int = 300) -> tuple[Timing, Timing]:
    """From the cancellation of several requests, sent at various times after an edit, until all have ended: by the
    clock, and the processor time that the server spent meanwhile, which does not depend on what else runs."""
    client = LspClient(SERVER)
    client.open(uri, text, language)
    document = {"textDocument": {"uri": uri}}
    start = {"line": line, "character": 0}
    found, spent = [], []
    for number in range(runs):
        new, end = (" ", start) if number % 2 == 0 else ("", {"line": line, "character": 1})
        change = {"range": {"start": start, "end": end}, "text": new}
        version = {"uri": uri, "version": number + 2}
        client.notify("textDocument/didChange", {"textDocument": version, "contentChanges": [change]})
        place = {**document, "position": start, "range": {"start": {"line": 0, "character": 0}, "end": start}}
        asked = {client.ask(f"textDocument/{name}", place) for name in REQUESTS}
        time.sleep(0.005 * (number % 8))
        before, cancelled = client.processor_seconds(), time.perf_counter()
        for identity in asked:
            client.notify("$/cancelRequest", {"id": identity})
        while not asked <= client.ended:
            client.read()
        found.append(time.perf_counter() - cancelled)
        spent.append(client.processor_seconds() - before)
    client.end()
    return Timing(tuple(sorted(found))), Timing(tuple(sorted(spent)))


def start() -> str:
    """Server start to the answer to initialize, beside the import it cannot do without; run by run."""
    ratios, ours, peers = [], [], []
    for _ in range(9):
        peer = command([sys.executable, "-c", "import pygls.lsp.server"], 1).median
        client = LspClient(SERVER)
        client.end()
        ratios.append(client.seconds_to_initialize / peer)
        ours.append(client.seconds_to_initialize)
        peers.append(peer)
    ratio = sorted(ratios)[len(ratios) // 2]
    measured = f"{sorted(ours)[4] * 1000:.0f} ms / {sorted(peers)[4] * 1000:.0f} ms = {ratio:.2f}"
    return row("server start to initialize against `import pygls.lsp.server`", measured, "1.3", ratio < 1.3)


def resident_mib(process: int) -> float:
    for line in Path(f"/proc/{process}/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0.0


def memory(text: str, edits: int) -> str:
    client = LspClient(SERVER)
    typing(client, text, 1000)
    before = resident_mib(client.process.pid)
    typing(client, text, edits, "file:///nowhere/second/config.json")
    after = resident_mib(client.process.pid)
    client.end()
    growth = 100 * (after / before - 1)
    return row(
        f"resident memory after {edits:,} edits against 1,000", f"{before:.0f} -> {after:.0f} MiB", "+5 %", growth <= 5
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json-server", metavar="COMMAND")
    parser.add_argument("--large", metavar="CONFIG")
    parser.add_argument("--python", metavar="FILE")
    parser.add_argument("--edits", type=int, default=10_000)
    arguments = parser.parse_args()
    small = layered()
    big = Path(arguments.large).read_text(encoding="utf-8") if arguments.large else large()
    print(HEADER)
    print(start())

    client = LspClient(SERVER)
    found = typing(client, small, 400)
    holds = found.median < 0.005 and found.percentile(99) < 0.016
    print(row("edit to published diagnostics, 60 layers", figures(found), "p50 5 ms, p99 16 ms", holds))
    lines = small.split("\n")
    line = next(number for number, content in enumerate(lines) if '"num_key_value_heads"' in content)
    place = {"textDocument": {"uri": URI}, "position": {"line": line, "character": 6}}
    print(
        row(
            "hover on num_key_value_heads",
            figures(timed(lambda: client.request("textDocument/hover", place))),
            "none",
            True,
        )
    )
    empty = {**place, "position": {"line": line, "character": 2}}
    shown = figures(timed(lambda: client.request("textDocument/completion", empty)))
    print(row("completion of keys", shown, "none", True))
    client.end()

    client = LspClient(SERVER, pull=True)
    found = typing(client, small, 400)
    print(row("edit to pulled diagnostics, 60 layers", figures(found), "none", True))
    client.end()
    if arguments.json_server:
        peer = LspClient([arguments.json_server, "--stdio"], pull=True)
        shown = figures(typing(peer, small, 400))
        print(row("the same, vscode-json-language-server (pulled)", shown, "peer", True))
        hover = figures(timed(lambda: peer.request("textDocument/hover", place)))
        print(row("its hover", hover, "peer", True))
        peer.end()

    client = LspClient(SERVER)
    found = typing(client, big, 60)
    title = f"edit to published diagnostics, {len(big) / 1e6:.1f} MB"
    print(row(title, figures(found), "p95 60 ms", found.percentile(95) < 0.060))
    client.end()
    if arguments.json_server:
        peer = LspClient([arguments.json_server, "--stdio"], pull=True)
        print(row("the same, vscode-json-language-server (pulled)", figures(typing(peer, big, 20)), "peer", True))
        peer.end()
    code = Path(arguments.python).read_text(encoding="utf-8") if arguments.python else python_model()
    for name, found in typing_python(code, 200):
        title = f"edit to published diagnostics in {name}, {code.count(chr(10)):,} lines of Python"
        print(
            row(title, figures(found), "p50 50 ms, p99 150 ms", found.median < 0.050 and found.percentile(99) < 0.150)
        )
    found, seconds = while_interpreting(small, code, place)
    title = f"hover while {code.count(chr(10)):,} lines of Python are interpreted, {seconds:.1f} s"
    print(row(title, figures(found), "p99 50 ms", found.percentile(99) < 0.050))
    line = next(number for number, content in enumerate(big.split("\n")) if '"num_hidden_layers"' in content)
    for title, (found, spent) in (
        (f"{len(REQUESTS)} cancelled requests ended, {len(big) / 1e6:.1f} MB", cancelling(URI, "json", big, line)),
        ("the same, the Python file", cancelling(PYTHON_URI, "python", code, 1)),
    ):
        print(row(title, figures(found), "p99 50 ms", found.percentile(99) < 0.050))
        print(row("its processor time", figures(spent), "p99 50 ms", spent.percentile(99) < 0.050))
    print(memory(small, arguments.edits))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
