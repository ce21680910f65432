"""The base model of an adapter that names a published one: its config from the local cache or the catalogue."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from neurarch_schemas.record import replace
from neurarch_schemas.surroundings.folder import Folder

if TYPE_CHECKING:
    from neurarch_schemas.analysis import Analysis
    from neurarch_schemas.documents.json_value import JSONValue

BASE = "base/config.json"
"""Where the config is put in the snapshot of the adapter's folder."""


def base_name(analysis: Analysis) -> str | None:
    data = analysis.document.data
    name = data.get("base_model_name_or_path") if isinstance(data, dict) else None
    return name if isinstance(name, str) and name else None


def with_known_base(analysis: Analysis) -> Analysis:
    """As given, where it is no adapter, its base is at hand, or nobody knows the base that it names."""
    name = base_name(analysis) if analysis.kind == "adapter_config" and analysis.base is None else None
    settings = None if name is None else _cached(name) or _published(name)
    return analysis if settings is None else replace(analysis, folder=_BaseOnly(settings))


class _BaseOnly(Folder):
    """Nothing but the base model lies beside the adapter."""

    def __init__(self, settings: JSONValue) -> None:
        self.json_files = {BASE: settings}


def _cached(name: str) -> JSONValue:
    from neurarch_lsp.card.sources import REPOSITORY, cached_config

    path = cached_config(name) if REPOSITORY.fullmatch(name) else None
    if path is None:
        return None
    try:
        with open(path, encoding="utf-8") as stream:
            data: JSONValue = json.load(stream)
    except (OSError, ValueError):
        return None
    return data


def _published(name: str) -> JSONValue:
    from neurarch_lsp.card.similar import catalogue

    return next((known.settings for known in catalogue() if known.name == name), None)
