"""What ends a block of statements before its end."""

from __future__ import annotations

from neurarch_schemas.interpreter.values import Value


class Return:
    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value


BREAK = object()
CONTINUE = object()
