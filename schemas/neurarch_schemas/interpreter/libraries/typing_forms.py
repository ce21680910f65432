"""typing, types, abc and numbers: annotations are passed over, a few forms are classes."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from neurarch_schemas.interpreter.libraries.containers import abstract_classes, record_class
from neurarch_schemas.interpreter.libraries.frames import FrameView
from neurarch_schemas.interpreter.libraries.library import module, new_class
from neurarch_schemas.interpreter.statements import Annotation
from neurarch_schemas.interpreter.values import (
    MISSING,
    BoundMethod,
    Builtin,
    Class,
    Function,
    Generator,
    Instance,
    NativeMethod,
    Property,
    PythonModule,
    Raised,
    TypingForm,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine


def build(machine: Machine, name: str) -> PythonModule:
    if name == "abc":
        return module(
            name,
            {
                "ABC": Class(machine, "ABC", module="abc"),
                "ABCMeta": Class(machine, "ABCMeta", (machine.builtins["type"],), module="abc"),
                "abstractmethod": _same,
                "abstractproperty": lambda machine, function: Property(function),
                "abstractclassmethod": machine.builtins["classmethod"],
                "abstractstaticmethod": machine.builtins["staticmethod"],
            },
        )
    if name == "numbers":
        return _numbers(machine)
    if name == "types":
        return _types(machine)
    classes = machine.builtins["<typing classes>"]
    abstract_classes(machine)
    for form, host in (
        ("List", "list"),
        ("Dict", "dict"),
        ("Tuple", "tuple"),
        ("Set", "set"),
        ("FrozenSet", "frozenset"),
        ("Type", "type"),
    ):
        classes[form] = machine.builtins[host]
    entries: dict[str, Value] = {
        "TYPE_CHECKING": False,
        "cast": lambda machine, form, value: value,
        "overload": _same,
        "final": _same,
        "no_type_check": _same,
        "runtime_checkable": _same,
        "override": _same,
        "dataclass_transform": lambda machine, **options: Builtin("dataclass_transform", _same),
        "deprecated": lambda machine, *args, **options: Builtin("deprecated", _same),
        "get_args": lambda machine, form: form.args if isinstance(form, TypingForm) else (),
        "get_origin": _origin,
        "get_type_hints": _hints,
        "TypeVar": lambda machine, name, *args, **options: TypingForm("TypeVar"),
        "ParamSpec": lambda machine, name, *args, **options: TypingForm("ParamSpec"),
        "TypeVarTuple": lambda machine, name, *args, **options: TypingForm("TypeVarTuple"),
        "NewType": lambda machine, name, form: Builtin(name, lambda machine, value: value),
        "NamedTuple": NamedTupleForm(),
        "TypedDict": TypedDictForm(),
        "assert_never": lambda machine, value: None,
        "assert_type": lambda machine, value, form: value,
        "reveal_type": _same,
        "AnyStr": TypingForm("AnyStr"),
    }
    return module(name, entries, lambda form: TypingForm(form))


def _same(machine: Machine, value: Value = None, *args: Value, **options: Value) -> Value:
    return value


def _origin(machine: Machine, form: Value) -> Value:
    if not isinstance(form, TypingForm) or not form.args:
        return None
    return (
        machine.builtins["<typing classes>"].get(form.name) or machine.builtins.get(form.name) or TypingForm(form.name)
    )


def _hints(machine: Machine, value: Value, *args: Value, **options: Value) -> Value:
    return AnnotationsView(machine, list(reversed(value.mro)) if isinstance(value, Class) else [value])


def resolve_annotation(machine: Machine, annotation: Value) -> Value:
    """The value of an annotation; Unknown where a name in it is not defined."""
    if isinstance(annotation, Annotation):
        node = annotation.node
        try:
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                node = ast.parse(node.value, mode="eval").body
            return machine.evaluate(node, annotation.frame)
        except (Raised, SyntaxError):
            return Unknown("an annotation", data=True)
    return annotation


class AnnotationsView(dict):  # type: ignore[type-arg]  # values of the program
    """Annotations of classes (and parameters of functions), evaluated one by one when asked for."""

    def __init__(self, machine: Machine, owners: list[Value]) -> None:
        super().__init__()
        for owner in owners:
            if isinstance(owner, Class):
                super().update(owner.namespace.get("__annotations__", {}))
            elif isinstance(owner, Function):
                arguments = owner.node.args
                for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
                    if each.annotation is not None:
                        self[each.arg] = Annotation(each.annotation, owner.frame)
                returns = getattr(owner.node, "returns", None)
                if returns is not None:
                    self["return"] = Annotation(returns, owner.frame)

    def interpreted_getitem(self, machine: Machine, key: Value) -> Value:
        if key not in self:
            machine.fail("KeyError", str(key))
        return resolve_annotation(machine, self[key])

    def interpreted_attr(self, machine: Machine, name: str) -> Value:
        match name:
            case "get":
                return Builtin(
                    name,
                    lambda machine, key, default=None: (
                        resolve_annotation(machine, self[key]) if key in self else default
                    ),
                )
            case "items":
                return Builtin(
                    name, lambda machine: [(key, resolve_annotation(machine, item)) for key, item in self.items()]
                )
            case "values":
                return Builtin(name, lambda machine: [resolve_annotation(machine, item) for item in self.values()])
            case "keys":
                return Builtin(name, lambda machine: list(self))
            case "copy":
                return Builtin(name, lambda machine: self)
            case "update" | "pop" | "setdefault" | "__contains__":
                return NativeMethod(self, name)
        return MISSING


class NamedTupleForm:
    """``typing.NamedTuple``, as a base class and as a function."""

    def interpreted_class(
        self, machine: Machine, name: str, bases: list[Value], namespace: dict[str, Value], keywords: dict[str, Value]
    ) -> Class:
        names = list(namespace.get("__annotations__", {}))
        cls = record_class(machine, name, names, {key: namespace[key] for key in names if key in namespace})
        cls.namespace.update({key: value for key, value in namespace.items() if key not in names})
        cls.module = str(namespace.get("__module__", ""))
        return cls

    def interpreted_call(self, machine: Machine, name: str, fields: Value = (), **kwargs: Value) -> Class:
        return record_class(machine, name, [pair[0] for pair in fields] or list(kwargs), {})


class TypedDictForm:
    """``typing.TypedDict``: a plain dictionary at run time."""

    def interpreted_class(
        self, machine: Machine, name: str, bases: list[Value], namespace: dict[str, Value], keywords: dict[str, Value]
    ) -> Value:
        return Class(machine, name, (machine.builtins["dict"],), namespace, str(namespace.get("__module__", "")))

    def interpreted_call(self, machine: Machine, name: str, *args: Value, **kwargs: Value) -> Value:
        return machine.builtins["dict"]


def _numbers(machine: Machine) -> PythonModule:
    entries: dict[str, Value] = {}
    for name, hosts in (
        ("Number", (int, float, complex)),
        ("Complex", (int, float, complex)),
        ("Real", (int, float)),
        ("Rational", (int,)),
        ("Integral", (int,)),
    ):
        cls = Class(machine, name, module="numbers")
        cls.instance_check = lambda value, hosts=hosts: isinstance(value, hosts)
        entries[name] = cls
    return module("numbers", entries)


def _types(machine: Machine) -> PythonModule:
    frame_class = machine.host_classes.setdefault(FrameView, Class(machine, "frame", module="types"))
    namespace_class = new_class(machine, "SimpleNamespace", "types", {"__init__": _simple_namespace})
    return module(
        "types",
        {
            "FunctionType": machine.host_classes[Function],
            "LambdaType": machine.host_classes[Function],
            "MethodType": MethodTypeForm(),
            "BuiltinFunctionType": machine.host_classes[Builtin],
            "ModuleType": machine.host_classes[PythonModule],
            "GeneratorType": machine.host_classes[Generator],
            "NoneType": machine.host_classes[type(None)],
            "SimpleNamespace": namespace_class,
            "MappingProxyType": lambda machine, value: value,
            "FrameType": frame_class,
            "GenericAlias": TypingForm("GenericAlias"),
            "UnionType": TypingForm("UnionType"),
            "DynamicClassAttribute": machine.builtins["property"],
        },
    )


class MethodTypeForm:
    """``types.MethodType``."""

    def interpreted_call(self, machine: Machine, function: Value, receiver: Value) -> Value:
        return BoundMethod(function, receiver)


def _simple_namespace(machine: Machine, self: Instance, *args: Value, **kwargs: Value) -> None:
    for mapping in args:
        self.attrs.update(mapping)
    self.attrs.update(kwargs)


__all__ = ["MISSING", "build"]
