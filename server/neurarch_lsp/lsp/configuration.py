"""Editor settings of a session: read when it begins, asked for again when the client says they have changed."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from neurarch_lsp.lsp import editor_settings, publisher
from neurarch_lsp.lsp.editor_settings import SECTION, EditorSettings

if TYPE_CHECKING:
    from neurarch_lsp.lsp.server import NeurarchServer

logger = logging.getLogger(__name__)


def from_options(options: object) -> EditorSettings:
    """initializationOptions: the settings themselves, or under ``settings`` or ``neurarch``."""
    return _parsed(_unwrapped(options, "settings", SECTION))


def from_change(settings: object) -> EditorSettings | None:
    """What a didChangeConfiguration carries; None when it carries nothing and must be asked for."""
    return None if settings is None or settings == {} else _parsed(_unwrapped(settings, SECTION))


async def refresh(server: NeurarchServer) -> None:
    """Ask the client for the settings of the session and of each workspace folder, then look at everything again."""
    folders = list(server.workspace.folders.values())
    items = [types.ConfigurationItem(section=SECTION)]
    items += [types.ConfigurationItem(scope_uri=folder.uri, section=SECTION) for folder in folders]
    answers = await server.workspace_configuration_async(types.ConfigurationParams(items))
    if len(answers) != len(items):
        logger.warning("asked for %d settings, got %d", len(items), len(answers))
        return
    default, *rest = answers
    server.settings.replace(
        server.settings.default if default is None else _parsed(_plain(default)),
        {
            folder.uri: _parsed(_plain(answer))
            for folder, answer in zip(folders, rest, strict=True)
            if answer is not None
        },
    )
    publisher.surroundings_changed(server)


def _parsed(data: object) -> EditorSettings:
    settings = editor_settings.parse(data)
    for problem in settings.problems:
        logger.warning("editor settings: %s", problem)
    return settings


def _unwrapped(value: object, *names: str) -> object:
    value = _plain(value)
    for name in names:
        if isinstance(value, Mapping) and isinstance(value.get(name), Mapping):
            value = value[name]
    return value


def _plain(value: Any) -> object:
    """pygls turns some objects into attribute bags: back to dicts and lists."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        fields = getattr(value, "_asdict", None)
        return _plain(fields()) if callable(fields) else [_plain(item) for item in value]
    if hasattr(value, "__dict__") and not isinstance(value, type):
        return {key: _plain(item) for key, item in vars(value).items()}
    return value
