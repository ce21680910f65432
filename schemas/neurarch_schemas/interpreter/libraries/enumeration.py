"""enum: members are instances made when the class statement ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from neurarch_schemas.interpreter.libraries.library import module
from neurarch_schemas.interpreter.values import (
    MISSING,
    Builtin,
    CachedProperty,
    Class,
    ClassMethod,
    Function,
    Instance,
    Property,
    PythonModule,
    StaticMethod,
    Value,
)

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine

_DESCRIPTORS = (Function, Property, CachedProperty, ClassMethod, StaticMethod, Builtin, Class)


class Auto:
    """``enum.auto()``."""


class EnumLayout:
    """On the enum classes: makes members of each subclass."""

    def __init__(self) -> None:
        self.members: dict[str, Value] = {}

    def finish_class(self, machine: Machine, cls: Class) -> None:
        layout = EnumLayout()
        cls.layout = layout
        count = 0
        values: list[Value] = []
        for name, value in list(cls.namespace.items()):
            if name.startswith("_") or isinstance(value, _DESCRIPTORS):
                continue
            count += 1
            if value.__class__ is Auto:
                hook = cls.lookup("_generate_next_value_")
                value = (
                    name.lower()
                    if cls.native is str
                    else 2 ** (count - 1)
                    if any(base.name in ("Flag", "IntFlag") for base in cls.mro)
                    else count
                )
                if isinstance(hook, Function | StaticMethod):
                    function = hook.function if isinstance(hook, StaticMethod) else hook
                    value = machine.call(function, [name, 1, count - 1, list(values)], {})
            known = next((each for each in layout.members.values() if _same(each.attrs["_value_"], value)), None)
            if known is not None:
                layout.members[name] = cls.namespace[name] = known
                continue
            values.append(value)
            member = self._member(machine, cls, value)
            member.attrs.setdefault("_value_", value)
            member.attrs["_name_"] = name
            layout.members[name] = cls.namespace[name] = member
            initializer = cls.namespace.get("__init__")
            if isinstance(initializer, Function):
                args = list(value) if isinstance(value, tuple) else [value]
                machine.call_method(member, initializer, args)

    def _member(self, machine: Machine, cls: Class, value: Value) -> Value:
        maker = cls.namespace.get("__new__")
        if isinstance(maker, StaticMethod):
            args = list(value) if isinstance(value, tuple) else [value]
            return machine.call(maker.function, [cls, *args], {})
        if cls.native is None:
            return Instance(cls)
        args = list(value) if isinstance(value, tuple) and cls.native is not tuple else [value]
        return machine.new_instance(cls, args, {})


def _same(left: Value, right: Value) -> bool:
    return type(left) is type(right) and not isinstance(left, Instance) and bool(left == right)


def build(machine: Machine, name: str) -> PythonModule:
    meta = Class(machine, "EnumMeta", (machine.builtins["type"],), module="enum")
    meta.namespace.pop("__new__", None)

    def call(machine: Machine, cls: Class, value: Value = MISSING, *args: Value, **kwargs: Value) -> Value:
        layout = cls.layout
        if args or not isinstance(layout, EnumLayout) or not layout.members:
            return _functional(machine, cls, value, *args, **kwargs)
        for member in layout.members.values():
            if member is value or _same(member.attrs["_value_"], value):
                return member
        if isinstance(value, str | int):
            for member in layout.members.values():
                if member.attrs["_value_"] == value:
                    return member
        missing = cls.lookup("_missing_")
        if missing is not MISSING:
            result = machine.call(machine.get_attr(cls, "_missing_"), [value], {})
            if result is not None:
                return result
        if any(base.name in ("Flag", "IntFlag") for base in cls.mro) and isinstance(value, int):
            return value
        machine.fail("ValueError", f"{value!r} is not a valid {cls.name}")
        return None

    def members(cls: Class) -> dict[str, Value]:
        return cls.layout.members if isinstance(cls.layout, EnumLayout) else {}

    def unique(cls: Class) -> list[Value]:
        return list({id(member): member for member in members(cls).values()}.values())

    def item(machine: Machine, cls: Class, key: Value) -> Value:
        found = members(cls)
        if key not in found:
            machine.fail("KeyError", str(key))
        return found[key]

    def contains(machine: Machine, cls: Class, value: Value) -> bool:
        return any(value is each or _same(each.attrs["_value_"], value) for each in unique(cls))

    meta.namespace.update(
        {
            "__call__": Builtin("__call__", call, binds=True),
            "__iter__": Builtin("__iter__", lambda machine, cls: iter(unique(cls)), binds=True),
            "__len__": Builtin("__len__", lambda machine, cls: len(unique(cls)), binds=True),
            "__getitem__": Builtin("__getitem__", item, binds=True),
            "__contains__": Builtin("__contains__", contains, binds=True),
            "__members__": Property(Builtin("__members__", lambda machine, cls: dict(members(cls)))),
        }
    )

    def make(name: str, bases: tuple[Class, ...]) -> Class:
        cls = Class(machine, name, bases, module="enum")
        cls.metaclass = meta
        cls.layout = EnumLayout()
        return cls

    enum = make("Enum", ())
    enum.namespace.update(
        {
            "name": Property(Builtin("name", lambda machine, self: self.attrs["_name_"])),
            "value": Property(Builtin("value", lambda machine, self: self.attrs["_value_"])),
            "__str__": Builtin("__str__", _text, binds=True),
            "__repr__": Builtin("__repr__", lambda machine, self: f"<{_text(machine, self)}>", binds=True),
        }
    )
    plain_text = Builtin("__str__", lambda machine, self: str(self.attrs["_value_"]), binds=True)
    text = make("StrEnum", (machine.builtins["str"], enum))
    text.namespace["__str__"] = plain_text
    number = make("IntEnum", (machine.builtins["int"], enum))
    number.namespace["__str__"] = plain_text
    flag = make("Flag", (enum,))
    operators: dict[str, Any] = {
        "__or__": lambda a, b: a | b,
        "__and__": lambda a, b: a & b,
        "__xor__": lambda a, b: a ^ b,
    }
    for key, operator in operators.items():
        flag.namespace[key] = Builtin(key, _flag(operator), binds=True)
    return module(
        name,
        {
            "Enum": enum,
            "StrEnum": text,
            "IntEnum": number,
            "Flag": flag,
            "IntFlag": make("IntFlag", (machine.builtins["int"], flag)),
            "EnumMeta": meta,
            "EnumType": meta,
            "auto": lambda machine: Auto(),
            "unique": lambda machine, cls: cls,
            "member": lambda machine, value: value,
            "nonmember": lambda machine, value: value,
            "property": machine.builtins["property"],
        },
    )


def _flag(operator: Any) -> Any:
    def apply(machine: Machine, self: Value, other: Value) -> Value:
        left = self.attrs["_value_"]
        right = other.attrs["_value_"] if hasattr(other, "attrs") else other
        return operator(left, right)

    return apply


def _text(machine: Machine, self: Value) -> str:
    return f"{self.cls.name}.{self.attrs.get('_name_', '')}"


def _functional(machine: Machine, cls: Class, name: Value, names: Value = (), **options: Value) -> Value:
    if isinstance(names, str):
        names = names.replace(",", " ").split()
    if isinstance(names, dict):
        pairs = list(names.items())
    else:
        pairs = [
            tuple(each) if isinstance(each, list | tuple) else (each, index + 1)
            for index, each in enumerate(machine.iterate(names))
        ]
    return machine.create_class(
        name, [cls], {"__module__": machine.frame.module.name, **dict(pairs)}, machine.frame, {}
    )
