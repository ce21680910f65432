"""A reader that has enough (``| head``) ends a command quietly, as SIGPIPE would."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    "arguments",
    [
        ["--print-schema", "llama"],
        ["--rules"],
        ["--help"],
        ["--report", "--tensors", "examples/heron-moe-230b/config.json"],
        ["--check", "--no-cache", "examples/first-draft"],
        ["--check", "--no-cache", "--output-format", "json", "examples/first-draft"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_nothing_is_said(arguments: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "neurarch_lsp", *arguments],
            stdout=writing,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            cwd=ROOT,
            check=False,
        )
    finally:
        os.close(writing)
    assert done.returncode == (0 if arguments == ["--help"] else 141)  # argparse swallows it
    assert b"Traceback" not in done.stderr
    assert b"BrokenPipe" not in done.stderr
