"""The module classes a file defines, and which construction of each is shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from neurarch_schemas.interpreter.sources import SourceCache


@dataclass(frozen=True, slots=True)
class ModuleClass:
    name: str
    line: int
    construction: str | None
    reason: str | None


def module_classes(
    path_or_text: str, search_paths: Sequence[str] = (), *, path: str | None = None, cache: SourceCache | None = None
) -> tuple[ModuleClass, ...]:
    return ()
