"""What cannot be told, with the reason: operations on it give unknown values, decisions on it are refused."""

from __future__ import annotations

from typing import Any

from neurarch_schemas.interpreter.values.errors import UnknownTruth
from neurarch_schemas.interpreter.values.value import Value


class Unknown:
    """A value that cannot be told, with the reason.

    ``data`` is True when it can only be a number, string, tensor or the like: never a module or a parameter.
    """

    __slots__ = ("data", "reason")

    def __init__(self, reason: str, data: bool = False) -> None:
        self.reason = reason
        self.data = data

    def __repr__(self) -> str:
        return f"<unknown: {self.reason}>"

    def __bool__(self) -> bool:
        raise UnknownTruth(self)

    def _derived(self, *_: Any) -> Unknown:
        return self if self.data else Unknown(self.reason, data=True)

    def _refuse(self, *_: Any) -> Any:
        raise UnknownTruth(self)

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _derived
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = __and__ = __rand__ = _derived
    __or__ = __ror__ = __xor__ = __rxor__ = __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = _derived
    __matmul__ = __rmatmul__ = __neg__ = __pos__ = __abs__ = __invert__ = _derived
    __lt__ = __le__ = __gt__ = __ge__ = _derived
    __eq__ = __ne__ = _derived  # type: ignore[assignment]  # an unknown comparison is unknown, not a bool
    __index__ = __int__ = __float__ = __len__ = __iter__ = __contains__ = _refuse
    __hash__ = object.__hash__


def derived(*values: Value) -> Unknown:
    """What an operation on unknown operands gives."""
    for value in values:
        if type(value) is Unknown:
            return value if value.data else Unknown(value.reason, data=True)
    return Unknown("an unknown value", data=True)
