"""Modules of the program, and names of them that are resolved when first read."""

from __future__ import annotations

from collections.abc import Callable

from neurarch_schemas.interpreter.values.classes import Class
from neurarch_schemas.interpreter.values.value import MISSING, Value


class PythonModule:
    """A module of the program or one of ours. ``missing`` answers for names we do not model."""

    __slots__ = ("cls", "file", "is_package", "loading", "missing", "name", "namespace", "stars")

    def __init__(self, name: str, file: str | None = None, is_package: bool = False) -> None:
        self.name = name
        self.file = file
        self.is_package = is_package
        self.namespace: dict[str, Value] = {"__name__": name}
        self.missing: Callable[[str], Value] | None = None
        self.loading = False
        self.stars: list[str] = []
        """Modules whose public names are imported with a star, found when a name is needed."""
        self.cls: Class | None = None
        """A class the program gave the module (``module.__class__ = ...``)."""

    def __repr__(self) -> str:
        return f"<module '{self.name}'>"


class LazyImport:
    """A name bound by a module-level import, resolved when it is first read."""

    __slots__ = ("attribute", "found", "module")

    def __init__(self, module: str, attribute: str | None) -> None:
        self.module = module
        self.attribute = attribute
        self.found: Value = MISSING
        """What it was resolved to, where that was stored under its name."""
