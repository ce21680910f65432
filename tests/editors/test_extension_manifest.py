"""The VS Code manifest agrees with the server and its settings."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from neurarch_lsp.lsp import editor_settings
from neurarch_lsp.settings.model import ServingModel
from neurarch_schemas import __version__

EXTENSION = Path(__file__).parents[2] / "editors" / "vscode"


def manifest() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))
    return loaded


def hyphens(name: str) -> str:
    return re.sub(r"([A-Z])", lambda match: "-" + match[1].lower(), name)


def test_every_setting_is_understood_by_the_server() -> None:
    properties = manifest()["contributes"]["configuration"]["properties"]
    client_only = {"server.path", "server.args", "trace.server"}
    known = {*editor_settings.SETTINGS_TABLES, "config", "syntax-errors", "diagnostic-mode", "inlay-hints", "code-lens"}
    for name in properties:
        key = name.removeprefix("neurarch.")
        assert key in client_only or hyphens(key) in known, name


def test_defaults_change_nothing() -> None:
    properties = manifest()["contributes"]["configuration"]["properties"]
    given = {name.removeprefix("neurarch."): entry["default"] for name, entry in properties.items()}
    assert editor_settings.parse(given) == editor_settings.EditorSettings()


def test_serving_offers_what_the_settings_file_offers() -> None:
    serving = manifest()["contributes"]["configuration"]["properties"]["neurarch.serving"]["properties"]
    aliases = {field.alias for field in ServingModel.model_fields.values()}
    assert {hyphens(name) for name in serving} <= aliases


def test_commands_named_in_the_walkthrough_exist() -> None:
    loaded = manifest()
    commands = {entry["command"] for entry in loaded["contributes"]["commands"]}
    named = set(re.findall(r"command:(neurarch\.\w+)", json.dumps(loaded["contributes"]["walkthroughs"])))
    assert named <= commands


def test_version_is_that_of_the_distribution() -> None:
    assert manifest()["version"] == __version__
