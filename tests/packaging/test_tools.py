"""The tools that the recipes of CONTRIBUTING.md name say by their exit status what they found."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


def check(folder: Path, *types: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "tools" / "check_architectures.py"), str(folder), *types]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    config = {
        "model_type": "gpt2",
        "architectures": ["GPT2Model"],
        "vocab_size": 3,
        "n_positions": 2,
        "n_embd": 2,
        "n_layer": 0,
        "n_head": 1,
    }
    tensors = [
        ["wte.weight", [3, 2], "parameter", 1],
        ["wpe.weight", [2, 2], "parameter", 1],
        ["ln_f.weight", [2], "parameter", 1],
        ["ln_f.bias", [2], "parameter", 1],
    ]
    record = {"model_type": "gpt2", "architecture": "GPT2Model", "variant": "tiny-a", "config": config}
    (tmp_path / "gpt2.jsonl").write_text(json.dumps({**record, "tensors": tensors}) + "\n")
    (tmp_path / "other.jsonl").write_text(json.dumps({**record, "tensors": tensors[1:]}) + "\n")
    return tmp_path


def test_an_exact_tree_is_status_0(recorded: Path) -> None:
    done = check(recorded, "gpt2")
    assert (done.returncode, done.stdout) == (0, "{'exact': 1}\n")


def test_a_wrong_tree_is_status_1(recorded: Path) -> None:
    done = check(recorded, "other")
    assert done.returncode == 1
    assert "WRONG" in done.stdout
    assert "wte.weight" in done.stdout


def test_a_type_without_records_is_status_1(recorded: Path) -> None:
    done = check(recorded, "gpt3")
    assert done.returncode == 1
    assert "MISSING gpt3" in done.stdout
