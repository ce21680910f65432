"""Options for one document: command line over editor settings over the nearest settings file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from neurarch_lsp.settings import globs
from neurarch_lsp.settings.find import SettingsError, SettingsFile, nearest, read
from neurarch_rules.engine.options import Ignore, Options, options_from

__all__ = ["Resolver", "SettingsError", "options_of", "search_paths"]


class Resolver:
    """Finds, validates and merges settings; remembers what it read until it is thrown away.

    ``config`` names one settings file for all documents; ``overrides`` are settings tables from weak to strong
    (editor settings, then command line) that are laid over the file's.
    """

    def __init__(self, config: str | None = None, overrides: tuple[Mapping[str, Any], ...] = ()) -> None:
        self.config = config
        self.overrides = overrides
        self.known: dict[str, SettingsFile | None] = {}
        self.options: dict[str | None, Options] = {}
        self.matched: dict[str, set[Ignore]] = {}
        """By settings file, the suppression entries whose glob has matched a document."""

    @classmethod
    def of_table(cls, table: Mapping[str, Any], name: str = "settings") -> Resolver:
        """One table (as TOML gives it) for all documents, validated as a settings file is; globs from where we are."""
        resolver = cls(config=name)
        resolver.known[""] = SettingsFile(name, os.getcwd(), table)
        return resolver

    def file_for(self, path: str | None) -> SettingsFile | None:
        """The settings file that applies to a document; raises SettingsError when it cannot be read."""
        if self.config is not None:
            found = self.known.get("")
            if found is None:
                found = read(self.config)
                if found is None:
                    raise SettingsError(self.config, "it has no table [tool.neurarch-lsp]")
                self.known[""] = found
            return found
        folder = os.path.dirname(os.path.abspath(path)) if path else os.getcwd()
        return nearest(folder, self.known)

    def options_for(self, path: str | None) -> Options:
        """The options of a document (None: text without a path). Raises SettingsError."""
        found = self.file_for(path)
        merged = self._merged(found)
        if not merged.ignores or found is None:
            return merged
        relative = _relative(path, found.root)
        kept = tuple(entry for entry in merged.ignores if globs.matches(entry.file, relative))
        self.matched.setdefault(found.path, set()).update(kept)
        return merged._replace(ignores=kept)

    def files(self) -> list[SettingsFile]:
        """The settings files met so far, each once."""
        return list({found.path: found for found in self.known.values() if found is not None}.values())

    def excluded(self, path: str) -> bool:
        """Whether the settings say that a file is not linted."""
        found = self.file_for(path)
        patterns = self._merged(found).exclude
        if not patterns:
            return False
        relative = _relative(path, found.root if found else os.getcwd())
        return any(globs.matches(pattern, relative) for pattern in patterns)

    def _merged(self, found: SettingsFile | None) -> Options:
        key = found.path if found else None
        options = self.options.get(key)
        if options is None:
            if found is not None:
                from neurarch_lsp.settings.validate import validate

                validate(found)
            options = options_from(found.data) if found else Options()
            for override in self.overrides:
                options = options_from(override, _without_ignores(options, override))
            self.options[key] = options
        return options


def options_of(path: str) -> Options:
    """What applies to a file that is reported on; the defaults where its settings file is broken (--check says why)."""
    try:
        return Resolver().options_for(path if os.path.exists(path) else None)
    except SettingsError:
        return Options()


def search_paths(path: str) -> list[str]:
    """Where imports of a Python file (or FILE.py:EXPRESSION) are looked up: the setting, then installed packages."""
    from neurarch_schemas.surroundings.environment import installed_packages

    return [*options_of(path).python.search_paths, *installed_packages()]


def _without_ignores(options: Options, override: Mapping[str, Any]) -> Options:
    """What a stronger layer selects by name is no longer ignored by a weaker one."""
    chosen = {*override.get("select", ()), *override.get("extend-select", ())}
    kept = tuple(name for name in options.ignore if name not in chosen)
    return options._replace(ignore=kept) if len(kept) < len(options.ignore) else options


def _relative(path: str | None, root: str) -> str:
    if path is None:
        return ""
    return os.path.relpath(os.path.abspath(path), root).replace(os.sep, "/")
