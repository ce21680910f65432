"""The configurations of editors that are not driven here are at least sound and start our command."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

from neurarch_lsp.lsp import editor_settings

EDITORS = Path(__file__).parents[2] / "editors"


def uncommented(path: Path) -> object:
    return json.loads(re.sub(r"^\s*//.*$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE))


def test_helix() -> None:
    loaded = tomllib.loads((EDITORS / "helix" / "languages.toml").read_text(encoding="utf-8"))
    server = loaded["language-server"]["neurarch-lsp"]
    assert server["command"] == "neurarch-lsp"
    assert editor_settings.parse(server["config"]).problems == ()
    assert all("neurarch-lsp" in str(language["language-servers"]) for language in loaded["language"])


def test_sublime() -> None:
    loaded = uncommented(EDITORS / "sublime" / "LSP.sublime-settings")
    assert isinstance(loaded, dict)
    client = loaded["clients"]["neurarch-lsp"]
    assert client["command"] == ["neurarch-lsp"]
    assert editor_settings.parse(client["initializationOptions"]).problems == ()


def test_kate() -> None:
    loaded = uncommented(EDITORS / "kate" / "settings.json")
    assert isinstance(loaded, dict)
    server = loaded["servers"]["json"]
    assert server["command"] == ["neurarch-lsp"]
    assert editor_settings.parse(server["initializationOptions"]).problems == ()


def test_zed() -> None:
    loaded = tomllib.loads((EDITORS / "zed" / "extension.toml").read_text(encoding="utf-8"))
    assert loaded["language_servers"]["neurarch-lsp"]["languages"] == ["JSON", "JSONC", "Python"]
    assert '"neurarch-lsp"' in (EDITORS / "zed" / "src" / "lib.rs").read_text(encoding="utf-8")
