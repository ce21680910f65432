"""The same tree gives the same findings in ``--check`` and in the server."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from . import samples
from .clients import SECONDS, Document, Profile, start

pytestmark = pytest.mark.asyncio

TREE = {
    "neurarch-lsp.toml": '[severity]\nmoe-no-aux-loss = "warning"\n'
    '[[ignores]]\nfile = "quiet/**"\nrule = "kv-heads-indivisible"\n',
    "moe/config.json": samples.text(samples.MOE),
    "wrong/config.json": samples.text(samples.LLAMA, num_key_value_heads=3),
    "quiet/config.json": samples.text(samples.LLAMA, num_key_value_heads=3),
    "broken/config.json": '{\n  "model_type": "llama",\n  "_": "🤖混\u2028x", "hidden_size": 64, // wide\n'
    '  "hidden_size": 64,\n}\n',
    "broken/generation_config.json": "<html>",
    "crlf/config.json": samples.text(samples.LLAMA, num_key_value_heads=3).replace("\n", "\r\n"),
    "own/pyproject.toml": '[tool.neurarch-lsp]\nselect = ["json-syntax", "json-comment"]\n',
    "own/config.json": samples.text(samples.LLAMA, num_key_value_heads=3).replace("{", "{ // why\n", 1),
    "app/config.json": '{"name": "app", "hiden_size": 3,}',
    "index/model.safetensors.index.json": '{"metadata": {}, "weight_map": {"a": "model-00001-of-00001.safetensors"}}',
}


async def check(folder: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Findings by file as the command line tells them."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "neurarch_lsp", "--check", ".", "--output-format", "json", "--fail-on", "never",
        cwd=folder, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    output, _ = await asyncio.wait_for(process.communicate(), SECONDS * 2)
    found: dict[str, list[tuple[Any, ...]]] = {}
    for item in json.loads(output):
        start_, end = item["range"]["start"], item["range"]["end"]
        found.setdefault(item["file"].removeprefix("./"), []).append(
            (item["rule"], item["severity"], item["message"],
             start_["line"] - 1, start_["column"] - 1, end["line"] - 1, end["column"] - 1)
        )  # fmt: skip
    return found


async def serve(folder: Path, profile: Profile) -> dict[str, list[tuple[Any, ...]]]:
    """Findings by file as the server tells them, in code points."""
    client = await start(profile, folder)
    found: dict[str, list[tuple[Any, ...]]] = {}
    names = {1: "error", 2: "warning", 3: "info", 4: "hint"}
    for path in sorted(folder.rglob("*.json")):
        text = path.read_bytes().decode()
        document = Document(client, profile.encoding, path.as_uri(), text, pull=profile.pull).open()
        for item in await document.diagnostics():
            points = [(place.line, place.character) for place in (item.range.start, item.range.end)]
            assert item.severity is not None
            found.setdefault(path.relative_to(folder).as_posix(), []).append(
                (item.code, names[item.severity.value], item.message, *points[0], *points[1])
            )
    await client.shutdown_session()
    await client.stop()
    return found


async def test_check_and_server_agree(tmp_path: Path) -> None:
    for name, text in TREE.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    from_check = await check(tmp_path)
    from_server = await serve(tmp_path, Profile("utf-32", pull=True))
    assert from_check.keys() >= {"moe/config.json", "wrong/config.json", "broken/config.json", "own/config.json"}
    assert {"kv-heads-indivisible"} & {item[0] for item in from_check["wrong/config.json"]}
    assert not {"kv-heads-indivisible"} & {item[0] for item in from_check.get("quiet/config.json", [])}
    assert from_server == from_check
