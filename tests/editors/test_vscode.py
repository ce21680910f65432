"""The extension in the real VS Code workbench. Needs what tests/editors/install.sh installs:
``VSCODE_FOLDER=FOLDER/vscode pytest tests/editors/test_vscode.py``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from .needs import missing

HERE = Path(__file__).parent / "vscode"
EXTENSION = Path(__file__).parents[2] / "editors" / "vscode"
SERVER = Path(sys.executable).with_name("neurarch-lsp")
SECONDS = 240


@dataclass(frozen=True)
class Workbench:
    folder: str
    vsix: Path

    def run(self, script: str, *arguments: str) -> dict[str, Any]:
        """What each step of a script told; it must have come to its end."""
        process = subprocess.run(
            ["node", script, self.folder, str(SERVER), *arguments],
            cwd=HERE, capture_output=True, text=True, timeout=SECONDS, check=False,
        )  # fmt: skip
        steps = {item["step"]: item for item in map(json.loads, _json_lines(process.stdout))}
        assert process.returncode == 0, (list(steps), process.stderr[-3000:])
        return steps


def _json_lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("{")]


@pytest.fixture(scope="module")
def workbench(tmp_path_factory: pytest.TempPathFactory) -> Workbench:
    """VS Code, and the extension built from source."""
    folder = os.environ.get("VSCODE_FOLDER")
    if folder is None:
        missing("VSCODE_FOLDER names no installed VS Code")
    vsix = tmp_path_factory.mktemp("package") / "neurarch-lsp.vsix"
    subprocess.run(
        ["npm", "run", "--silent", "package", "--", "--out", str(vsix)], cwd=EXTENSION, check=True, timeout=120
    )
    return Workbench(folder, vsix)


def test_features_in_the_extension_host(workbench: Workbench) -> None:
    assert "done" in workbench.run("api.mjs")


def test_restricted_mode_runs_nothing_of_the_workspace(workbench: Workbench) -> None:
    steps = workbench.run("restricted.mjs")
    assert "kv-heads-indivisible" in steps["restricted"]["rules"]
    assert "done" in steps


def test_without_a_server_one_message_says_so_and_naming_it_helps(workbench: Workbench) -> None:
    assert "done" in workbench.run("absent.mjs")


def test_walkthrough_settings_and_status_item_of_the_package(workbench: Workbench) -> None:
    assert "done" in workbench.run("window.mjs", str(workbench.vsix))


def test_what_a_person_sees_of_the_package(workbench: Workbench, tmp_path: Path) -> None:
    """Squiggle, lens, hints, hover, quick fix, completion and report in the window; the pictures of docs/images."""
    workbench.run("screenshots.mjs", str(workbench.vsix), str(tmp_path))
    assert len(list(tmp_path.glob("vscode-*.png"))) == 6


def test_the_package_holds_the_bundle_only_and_what_a_registry_shows(workbench: Workbench) -> None:
    with zipfile.ZipFile(workbench.vsix) as package:
        names = set(package.namelist())
        manifest = package.read("extension.vsixmanifest").decode()
    assert {name for name in names if not name.startswith("extension/media/")} == {
        "extension.vsixmanifest", "[Content_Types].xml", "extension/package.json", "extension/readme.md",
        "extension/changelog.md", "extension/LICENSE.txt", "extension/dist/extension.js",
    }  # fmt: skip
    for shown in ("extension/media/icon.png", "extension/LICENSE.txt", "extension/readme.md", "extension/changelog.md"):
        assert shown in names
        assert shown in manifest
    for link in ("Links.Source", "Links.Support", "Links.Learn"):
        assert f"Microsoft.VisualStudio.Services.{link}" in manifest
