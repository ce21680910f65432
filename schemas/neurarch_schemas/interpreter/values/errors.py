"""How an evaluation ends before its value is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neurarch_schemas.interpreter.values.value import Value

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.values.unknown import Unknown


class Raised(Exception):
    """An exception of the interpreted program on its way up; ``value`` is its instance."""

    def __init__(self, value: Value, where: str = "") -> None:
        super().__init__()
        self.value = value
        self.where = where


class UnknownTruth(Exception):
    """Host code needed to decide on an unknown value."""

    def __init__(self, unknown: Unknown) -> None:
        super().__init__(unknown.reason)
        self.unknown = unknown
