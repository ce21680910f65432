"""The configuration in editors/emacs, driven in a real Emacs with eglot."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from .needs import missing
from .test_neovim import MODEL

ROOT = Path(__file__).parents[2]


def test_emacs_connects_for_models_only_and_marks_behind_emoji(tmp_path: Path) -> None:
    if shutil.which("emacs") is None:
        missing("no Emacs here")
    model, foreign = tmp_path / "模型 x" / "config.json", tmp_path / "app" / "config.json"
    for path, text in ((model, MODEL), (foreign, '{"name": "app", "port": 8080, "nested": {"a": [1, 2, 3]}}\n')):
        path.parent.mkdir()
        path.write_text(text, encoding="utf-8")
    environment = {
        **os.environ,
        "HOME": str(tmp_path),
        "LANG": "C.UTF-8",
        "MODEL": str(model),
        "FOREIGN": str(foreign),
        "CLIENT": str(ROOT / "editors" / "emacs"),
        "SERVER": json.dumps([sys.executable, "-m", "neurarch_lsp"]),
    }
    process = subprocess.run(
        ["emacs", "--batch", "-Q", "-l", str(Path(__file__).with_name("emacs.el"))],
        env=environment, capture_output=True, text=True, timeout=90, check=False,
    )  # fmt: skip
    lines = [line for line in process.stdout.splitlines() if line.startswith("{")]
    told = {item["step"]: item for item in map(json.loads, lines)}
    if "eglot" in process.stderr and "Cannot open load file" in process.stderr:
        missing("this Emacs has no eglot")
    assert process.returncode == 0, (told.get("error"), process.stderr[-2000:])
    assert told["foreign"]["connected"] is False
    assert {"3", "// wide"} <= set(told["diagnostics"]["marked"])
    assert "num_key_value_heads" in told["hover"]["text"].replace("\\", "")
    assert "done" in told
