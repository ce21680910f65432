"""The extension in the real VS Code workbench. Needs an installed workbench (tests/editors/vscode/install_vscode.sh),
Chromium, and the bundle: ``VSCODE_FOLDER=... pytest tests/editors/test_vscode.py``.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent / "vscode"
EXTENSION = Path(__file__).parents[2] / "editors" / "vscode"
FOLDER = os.environ.get("VSCODE_FOLDER")


@pytest.mark.skipif(FOLDER is None, reason="VSCODE_FOLDER names no installed workbench")
def test_the_suite_passes_in_the_extension_host() -> None:
    assert FOLDER is not None
    if not (HERE / "node_modules" / "playwright-core").is_dir():
        subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=HERE, check=True)
    if not (EXTENSION / "node_modules").is_dir():
        subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=EXTENSION, check=True)
    subprocess.run(["npm", "run", "--silent", "vscode:prepublish"], cwd=EXTENSION, check=True)
    server = Path(sys.executable).with_name("neurarch-lsp")
    process = subprocess.run(
        ["node", "api.mjs", FOLDER, str(server)], cwd=HERE, capture_output=True, text=True, timeout=180, check=False
    )
    steps = [json.loads(line)["step"] for line in process.stdout.splitlines() if line.startswith("{")]
    assert process.returncode == 0, (steps, process.stderr[-2000:])
    assert steps[-1] == "done"


@pytest.mark.skipif(shutil.which("npm") is None or FOLDER is None, reason="needs npm and VSCODE_FOLDER")
def test_the_package_holds_the_bundle_only() -> None:
    listed = subprocess.run(
        ["npx", "--no-install", "vsce", "ls", "--no-dependencies"],
        cwd=EXTENSION,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert {name for name in listed if not name.startswith("media/")} == {
        "package.json", "README.md", "CHANGELOG.md", "LICENSE", "dist/extension.js",
    }  # fmt: skip
