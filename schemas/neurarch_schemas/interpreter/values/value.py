"""The type of everything an interpreted program handles, and the mark for what is not there."""

from __future__ import annotations

from typing import Any, TypeAlias

Value: TypeAlias = Any
"""Any value of an interpreted program."""


class _Missing:
    __slots__ = ()

    def __repr__(self) -> str:
        return "<missing>"


MISSING = _Missing()
