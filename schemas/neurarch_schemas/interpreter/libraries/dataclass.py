"""dataclasses: fields in order, defaults and factories, ``__post_init__``, ``InitVar``, inheritance."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from neurarch_schemas.interpreter.libraries.copying import deep_copy
from neurarch_schemas.interpreter.libraries.library import module
from neurarch_schemas.interpreter.statements import Annotation
from neurarch_schemas.interpreter.values import (
    MISSING,
    Builtin,
    Class,
    Instance,
    Property,
    PythonModule,
    TypingForm,
    Unknown,
    Value,
)
from neurarch_schemas.interpreter.work import charge

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine


class Field:
    """One field as ``dataclasses.field`` describes it."""

    __slots__ = ("default", "factory", "init", "keyword_only", "metadata", "name", "pseudo", "type")

    def __init__(
        self, default: Value = MISSING, factory: Value = MISSING, init: bool = True, keyword_only: Value = MISSING
    ) -> None:
        self.name = ""
        self.default = default
        self.factory = factory
        self.init = init
        self.keyword_only = keyword_only
        self.pseudo = ""
        """"InitVar" where the value only goes to ``__post_init__``."""
        self.type: Value = None
        self.metadata: Value = {}

    def interpreted_attr(self, machine: Machine, name: str) -> Value:
        missing = machine.state["dataclasses"]
        match name:
            case "name" | "init" | "type" | "metadata":
                return getattr(self, name)
            case "default":
                return missing if self.default is MISSING else self.default
            case "default_factory":
                return missing if self.factory is MISSING else self.factory
            case "kw_only":
                return self.keyword_only is True
            case "repr" | "compare":
                return True
        return MISSING


class Fields:
    """The layout of a dataclass."""

    __slots__ = ("equal", "fields", "frozen")

    def __init__(self, fields: dict[str, Field], frozen: bool) -> None:
        self.fields = fields
        self.frozen = frozen


def build(machine: Machine, name: str) -> PythonModule:
    machine.state["dataclasses"] = Instance(Class(machine, "_MISSING_TYPE", module="dataclasses"))
    return module(
        name,
        {
            "dataclass": dataclass,
            "field": _field,
            "fields": lambda machine, value: tuple(
                each for each in _layout(machine, value).fields.values() if each.pseudo != "InitVar"
            ),
            "is_dataclass": lambda machine, value: _find(machine, value) is not None,
            "asdict": lambda machine, value, **options: _as_dict(machine, value),
            "astuple": lambda machine, value, **options: tuple(
                machine.get_attr(value, each) for each in _layout(machine, value).fields
            ),
            "replace": _replace,
            "MISSING": machine.state["dataclasses"],
            "InitVar": TypingForm("InitVar"),
            "KW_ONLY": TypingForm("KW_ONLY"),
            "Field": Class(machine, "Field", module="dataclasses"),
            "FrozenInstanceError": machine.builtins["AttributeError"],
            "make_dataclass": lambda machine, *args, **kwargs: Unknown("make_dataclass"),
        },
    )


def _field(
    machine: Machine,
    *,
    default: Value = MISSING,
    default_factory: Value = MISSING,
    init: Value = True,
    kw_only: Value = MISSING,
    metadata: Value = None,
    **options: Value,
) -> Field:
    sentinel = machine.state["dataclasses"]
    made = Field(
        MISSING if default is sentinel else default,
        MISSING if default_factory is sentinel else default_factory,
        bool(init),
        MISSING if kw_only is sentinel else kw_only,
    )
    made.metadata = metadata or {}
    return made


def _find(machine: Machine, value: Value) -> Fields | None:
    cls = value if isinstance(value, Class) else machine.type_of(value)
    layout = cls.namespace.get("<fields>")
    if layout is None:
        layout = next((base.namespace["<fields>"] for base in cls.mro if "<fields>" in base.namespace), None)
    return layout


def _layout(machine: Machine, value: Value) -> Fields:
    found = _find(machine, value)
    if found is None:
        machine.fail("TypeError", "must be called with a dataclass type or instance")
    return found


def dataclass(machine: Machine, cls: Value = None, **options: Value) -> Value:
    if cls is None:
        return Builtin("dataclass", lambda machine, cls: dataclass(machine, cls, **options))
    if not isinstance(cls, Class):
        return cls
    fields: dict[str, Field] = {}
    for base in reversed(cls.mro[1:]):
        layout = base.namespace.get("<fields>")
        if layout is not None:
            fields.update(layout.fields)
    keyword_only = options.get("kw_only") is True
    for name, annotation in cls.namespace.get("__annotations__", {}).items():
        kind = _kind(annotation)
        if kind == "KW_ONLY":
            keyword_only = True
            continue
        if kind == "ClassVar":
            continue
        value = cls.namespace.get(name, MISSING)
        if value.__class__ is Field:
            made = value
            if made.default is not MISSING:
                cls.namespace[name] = made.default
            else:
                del cls.namespace[name]
        else:
            made = Field(value)
        made.name = name
        made.type = annotation
        made.pseudo = kind
        if made.keyword_only is MISSING:
            made.keyword_only = keyword_only
        fields[name] = made
    cls.namespace["<fields>"] = Fields(fields, options.get("frozen") is True)
    if options.get("slots") is True:
        cls.namespace.setdefault("__slots__", tuple(fields))
    cls.namespace["__dataclass_fields__"] = fields
    cls.namespace["__match_args__"] = tuple(
        name for name, each in fields.items() if each.init and not each.keyword_only
    )
    if options.get("init", True) is not False and "__init__" not in cls.namespace:
        made_init = Builtin("__init__", _initializer(cls, fields), binds=True)
        cls.namespace["__init__"] = made_init
    if options.get("eq", True) is not False and "__eq__" not in cls.namespace:
        cls.namespace["__eq__"] = Builtin("__eq__", _equal, binds=True)
        if options.get("frozen") is True or options.get("unsafe_hash") is True:
            cls.namespace["__hash__"] = Builtin("__hash__", _hash, binds=True)
        elif "__hash__" not in cls.namespace:
            cls.namespace["__hash__"] = None
    if "__repr__" not in cls.namespace and options.get("repr", True) is not False:
        cls.namespace["__repr__"] = Builtin("__repr__", _repr, binds=True)
    return cls


def _kind(annotation: Value) -> str:
    """ "ClassVar", "InitVar", "KW_ONLY" or nothing."""
    node = annotation.node if isinstance(annotation, Annotation) else None
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        text = node.value
        for name in ("ClassVar", "InitVar", "KW_ONLY"):
            if text.startswith(name) or f".{name}" in text.partition("[")[0]:
                return name
        return ""
    if isinstance(node, ast.Subscript):
        node = node.value
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return name if name in ("ClassVar", "InitVar", "KW_ONLY") else ""


def _initializer(cls: Class, fields: dict[str, Field]) -> Any:
    positional = [each for each in fields.values() if each.init and not each.keyword_only]
    accepted = {name for name, each in fields.items() if each.init}

    def initialize(machine: Machine, self: Instance, *args: Value, **kwargs: Value) -> None:
        if len(args) > len(positional):
            machine.fail("TypeError", f"{cls.name}() takes {len(positional)} arguments but {len(args)} were given")
        given = {each.name: value for each, value in zip(positional, args, strict=False)}
        for name, value in kwargs.items():
            if name not in accepted:
                machine.fail("TypeError", f"{cls.name}() got an unexpected keyword argument '{name}'")
            if name in given:
                machine.fail("TypeError", f"{cls.name}() got multiple values for argument '{name}'")
            given[name] = value
        pseudo: list[Value] = []
        frozen = _layout(machine, self).frozen
        for name, each in fields.items():
            if name in given:
                value = given[name]
            elif each.factory is not MISSING:
                value = machine.call(each.factory, [], {})
            elif each.default is not MISSING:
                value = each.default
            elif not each.init:
                continue
            else:
                error = machine.raised("TypeError", f"{cls.name}() is missing the argument '{name}'")
                error.value.attrs["<missing argument>"] = (cls.name, name)
                raise error
            if each.pseudo == "InitVar":
                pseudo.append(value)
            elif frozen:
                machine.set_plain(self, name, value)
            else:
                machine.set_attr(self, name, value)
        after = self.cls.lookup("__post_init__")
        if after is not MISSING:
            machine.call_method(self, after, pseudo)

    return initialize


def _equal(machine: Machine, self: Instance, other: Value) -> Value:
    if not isinstance(other, Instance) or other.cls is not self.cls:
        return NotImplemented
    machine.meter.work(1)
    for name in _layout(machine, self).fields:
        charge(machine.meter, self.attrs.get(name))
    return all(
        self.attrs.get(name) is other.attrs.get(name) or self.attrs.get(name) == other.attrs.get(name)
        for name in _layout(machine, self).fields
    )


def _hash(machine: Machine, self: Instance) -> Value:
    machine.meter.work(1)
    for name in _layout(machine, self).fields:
        charge(machine.meter, self.attrs.get(name))
    return hash(tuple(self.attrs.get(name) for name in _layout(machine, self).fields))


def _repr(machine: Machine, self: Instance) -> str:
    machine.meter.work(1)
    for name in _layout(machine, self).fields:
        charge(machine.meter, self.attrs.get(name))
    shown = ", ".join(f"{name}={self.attrs.get(name)!r}" for name in _layout(machine, self).fields)
    return f"{self.cls.name}({shown})"


def _as_dict(machine: Machine, value: Value) -> Value:
    if isinstance(value, list | tuple):
        return type(value)(_as_dict(machine, each) for each in value) if type(value) in (list, tuple) else value
    if type(value) is dict:
        return {key: _as_dict(machine, each) for key, each in value.items()}
    layout = _find(machine, value) if isinstance(value, Instance) else None
    if layout is None:
        return deep_copy(machine, value, {})
    return {
        name: _as_dict(machine, machine.get_attr(value, name))
        for name, each in layout.fields.items()
        if each.pseudo != "InitVar"
    }


def _replace(machine: Machine, value: Instance, /, **changes: Value) -> Value:
    given = {
        name: changes.get(name, MISSING) if name in changes else machine.get_attr(value, name)
        for name, each in _layout(machine, value).fields.items()
        if each.init and (each.pseudo != "InitVar" or name in changes)
    }
    return machine.call(value.cls, [], {**given, **changes})


__all__ = ["Field", "Fields", "Property", "build", "dataclass"]
