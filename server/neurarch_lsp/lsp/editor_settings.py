"""Settings the editor sends: initializationOptions, workspace/configuration, didChangeConfiguration."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast

logger = logging.getLogger(__name__)

SECTION = "neurarch"

Switch = Literal["auto", "on", "off"]
DiagnosticMode = Literal["open", "workspace"]

EDITORS = ("visual studio code", "code - oss", "vscodium", "cursor", "windsurf", "code-server", "theia")
"""Clients with servers of their own for JSON and Python, which report broken syntax, comments and duplicate keys."""

JSON_SYNTAX = frozenset({"json-syntax", "json-comment", "json-duplicate-key", "json-nonfinite"})
SYNTAX_RULES = {"json": JSON_SYNTAX, "jsonc": JSON_SYNTAX, "python": frozenset({"python-syntax"})}
"""By language what such servers report as well."""

_HUMP = re.compile(r"(?<=[a-z0-9])([A-Z])")

SETTINGS_TABLES = (
    "select",
    "extend-select",
    "ignore",
    "severity",
    "exclude",
    "serving",
    "limits",
    "transformers-version",
)
"""Keys that mean the same as in neurarch-lsp.toml and are laid over it."""


@dataclass(frozen=True, slots=True)
class EditorSettings:
    """``table`` is laid over the settings file's; the rest concerns the editor alone."""

    table: Mapping[str, Any] = field(default_factory=dict)
    config: str | None = None
    """One settings file for all documents, instead of the nearest."""
    syntax_errors: Switch = "auto"
    diagnostic_mode: DiagnosticMode = "open"
    inlay_hints: bool = True
    code_lens: bool = True
    problems: tuple[str, ...] = ()
    """What could not be understood, for the log and ``neurarch.debugInformation``."""


def parse(data: object) -> EditorSettings:
    """Read the object a client sends, camelCase or hyphens; null and absent values keep the defaults.

    Wrong values are left out and named in ``problems``: an editor's setting must not stop the server.
    """
    if not isinstance(data, Mapping):
        return EditorSettings(problems=() if data is None else (f"settings must be an object, not {data!r:.60}",))
    given = {_hyphens(str(key)): value for key, value in data.items() if value is not None}
    problems: list[str] = []
    table = {key: _table(value) for key, value in given.items() if key in SETTINGS_TABLES and value not in ([], {}, "")}
    return EditorSettings(
        table=_valid(table, problems),
        config=str(given["config"]) if given.get("config") else None,
        syntax_errors=cast(Switch, _choice(given, "syntax-errors", ("auto", "on", "off"), problems)),
        diagnostic_mode=cast(DiagnosticMode, _choice(given, "diagnostic-mode", ("open", "workspace"), problems)),
        inlay_hints=_switch(given, "inlay-hints", problems),
        code_lens=_switch(given, "code-lens", problems),
        problems=tuple(problems),
    )


def hidden_rules(settings: EditorSettings, client_name: str, language: str) -> frozenset[str]:
    """Rules not reported because the editor's own support of the language says the same."""
    if settings.syntax_errors == "on" or (settings.syntax_errors == "auto" and not has_own_servers(client_name)):
        return frozenset()
    return SYNTAX_RULES.get(language, frozenset())


def has_own_servers(client_name: str) -> bool:
    """Whether the editor brings a server and formatter for JSON, and one for Python, of its own."""
    name = client_name.lower()
    return any(editor in name for editor in EDITORS)


def _hyphens(name: str) -> str:
    return _HUMP.sub(lambda match: "-" + match[1].lower(), name).replace("_", "-")


def _table(value: object) -> object:
    """Nested keys of ``serving`` and ``limits`` in hyphens; rule names under ``severity`` have hyphens already."""
    if isinstance(value, Mapping):
        return {_hyphens(str(key)): item for key, item in value.items() if item is not None}
    return value


def _valid(table: dict[str, Any], problems: list[str]) -> dict[str, Any]:
    """The entries that the settings schema accepts."""
    if not table:
        return table
    from pydantic import ValidationError

    from neurarch_lsp.settings.model import SettingsModel

    while table:
        try:
            SettingsModel.model_validate(table)
        except ValidationError as error:
            for item in error.errors():
                key = str(item["loc"][0])
                problems.append(f"{SECTION}.{'.'.join(str(part) for part in item['loc'])}: {item['msg']}")
                table.pop(key, None)
        else:
            break
    return table


def _choice(given: Mapping[str, Any], key: str, choices: tuple[str, ...], problems: list[str]) -> str:
    value = given.get(key, choices[0])
    if value in choices:
        return str(value)
    problems.append(f"{SECTION}.{key} must be one of {', '.join(choices)}, not {value!r:.60}")
    return choices[0]


def _switch(given: Mapping[str, Any], key: str, problems: list[str]) -> bool:
    """True unless switched off, as ``false`` or as ``{"enabled": false}``."""
    value = given.get(key, True)
    if isinstance(value, Mapping):
        value = value.get("enabled", True)
    if isinstance(value, bool):
        return value
    problems.append(f"{SECTION}.{key} must be true or false, not {value!r:.60}")
    return True
