"""Classes with their method resolution order, and ``super()``."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from neurarch_schemas.interpreter.values.typing_forms import TypingForm
from neurarch_schemas.interpreter.values.unknown import Unknown
from neurarch_schemas.interpreter.values.value import MISSING, Value

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine
    from neurarch_schemas.interpreter.scopes import Frame


class Class:
    """A class, the program's own or one of ours. ``native`` is the host type whose values its instances carry."""

    __slots__ = (
        "annotations",
        "attrs",
        "bases",
        "construct",
        "frame",
        "getter",
        "instance_check",
        "layout",
        "machine",
        "metaclass",
        "module",
        "mro",
        "name",
        "namespace",
        "namespaces",
        "native",
        "node",
        "qualname",
        "unknown_base",
    )

    def __init__(
        self,
        machine: Machine,
        name: str,
        bases: tuple[Class, ...] = (),
        namespace: dict[str, Value] | None = None,
        module: str = "builtins",
        native: type | None = None,
        construct: Callable[..., Value] | None = None,
    ) -> None:
        self.machine = machine
        self.name = self.qualname = name
        self.bases = bases
        self.namespace: dict[str, Value] = {} if namespace is None else namespace
        self.module = module
        self.node: ast.ClassDef | None = None
        self.frame: Frame | None = None
        self.annotations: dict[str, Any] = {}
        self.metaclass: Class | None = next((base.metaclass for base in bases if base.metaclass is not None), None)
        self.unknown_base: Unknown | None = next((b.unknown_base for b in bases if b.unknown_base is not None), None)
        self.native: type | None = native or next((base.native for base in bases if base.native is not None), None)
        self.construct: Callable[..., Value] | None = construct
        self.instance_check: Callable[[Value], bool] | None = None
        self.layout: Any = next((base.layout for base in bases if base.layout is not None), None)
        """What a library keeps on a class (dataclass fields, enum members, ...)."""
        self.mro: tuple[Class, ...] = (self, *linearize(bases))
        self.namespaces = tuple(base.namespace for base in self.mro)
        self.getter: Value = self.lookup("__getattribute__")
        """A ``__getattribute__`` of the program's own, or MISSING."""

    def lookup(self, name: str) -> Value:
        """The attribute found along the MRO, or MISSING."""
        for namespace in self.namespaces:
            if name in namespace:
                return namespace[name]
        return MISSING

    def owner(self, name: str) -> Class | None:
        return next((base for base in self.mro if name in base.namespace), None)

    def __repr__(self) -> str:
        return f"<class '{self.module}.{self.qualname}'>"

    def __or__(self, other: Value) -> Value:
        return TypingForm("Union", (self, other))

    def __ror__(self, other: Value) -> Value:
        return TypingForm("Union", (other, self))

    def __call__(self, *args: Value, **kwargs: Value) -> Value:
        return self.machine.call(self, list(args), kwargs)


def linearize(bases: tuple[Class, ...]) -> list[Class]:
    """The C3 merge of the bases' own orders. Raises TypeError where there is none."""
    sequences = [list(base.mro) for base in bases] + [list(bases)]
    result: list[Class] = []
    while sequences := [sequence for sequence in sequences if sequence]:
        for sequence in sequences:
            head = sequence[0]
            if not any(head in other[1:] for other in sequences):
                break
        else:
            raise TypeError("Cannot create a consistent method resolution order (MRO) for bases")
        result.append(head)
        for sequence in sequences:
            if sequence[0] is head:
                del sequence[0]
    return result


class Super:
    __slots__ = ("cls", "receiver")

    def __init__(self, cls: Class, receiver: Value) -> None:
        self.cls = cls
        self.receiver = receiver
