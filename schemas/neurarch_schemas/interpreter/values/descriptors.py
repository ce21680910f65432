"""What a class holds to answer for an attribute: properties, class and static methods."""

from __future__ import annotations

from neurarch_schemas.interpreter.values.value import Value


class Property:
    __slots__ = ("attrs", "deleter", "getter", "setter")

    def __init__(self, getter: Value, setter: Value = None, deleter: Value = None) -> None:
        self.getter = getter
        self.setter = setter
        self.deleter = deleter
        self.attrs: dict[str, Value] = {}


class CachedProperty:
    __slots__ = ("function", "name")

    def __init__(self, function: Value, name: str) -> None:
        self.function = function
        self.name = name


class ClassMethod:
    __slots__ = ("attrs", "function")

    def __init__(self, function: Value) -> None:
        self.function = function
        self.attrs: dict[str, Value] = {}


class StaticMethod:
    __slots__ = ("attrs", "function")

    def __init__(self, function: Value) -> None:
        self.function = function
        self.attrs: dict[str, Value] = {}
