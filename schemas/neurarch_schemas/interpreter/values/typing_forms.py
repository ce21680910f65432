"""Forms of the typing module."""

from __future__ import annotations

from neurarch_schemas.interpreter.values.value import Value


class TypingForm:
    """``Optional[int]``, ``Literal["a"]``, a TypeVar: a form of the typing module, passed over."""

    __slots__ = ("args", "attrs", "name")

    def __init__(self, name: str, args: tuple[Value, ...] = ()) -> None:
        self.name = name
        self.args = args
        self.attrs: dict[str, Value] = {}

    def __or__(self, other: Value) -> TypingForm:
        return TypingForm("Union", (self, other))

    def __ror__(self, other: Value) -> TypingForm:
        return TypingForm("Union", (other, self))

    def __repr__(self) -> str:
        return f"typing.{self.name}" + (f"[{', '.join(map(repr, self.args))}]" if self.args else "")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TypingForm) and (self.name, self.args) == (other.name, other.args)

    def __hash__(self) -> int:
        return hash((self.name, self.args))
