"""One interpretation: the parts put together, and the questions they share."""

from __future__ import annotations

import ast
import os
import string
from collections.abc import Iterator
from typing import Any

from neurarch_schemas.interpreter.attributes import Attributes
from neurarch_schemas.interpreter.budgets import BudgetExceeded, Meter
from neurarch_schemas.interpreter.builtin_classes import EXCEPTIONS, install
from neurarch_schemas.interpreter.calls import Calls
from neurarch_schemas.interpreter.classes import Classes
from neurarch_schemas.interpreter.imports import Imports
from neurarch_schemas.interpreter.memo import Memo
from neurarch_schemas.interpreter.operators import Operators
from neurarch_schemas.interpreter.scopes import Frame
from neurarch_schemas.interpreter.sources import Sources
from neurarch_schemas.interpreter.values import (
    INSTANCE_TYPES,
    MISSING,
    BoundMethod,
    Builtin,
    Class,
    Function,
    Generator,
    Instance,
    NativeMethod,
    Partial,
    PythonModule,
    Raised,
    TypingForm,
    Unknown,
    UnknownTruth,
    Value,
)
from neurarch_schemas.interpreter.work import charge

_MOST_ITEMS = 2_000_000

Site = tuple[str, int, int]
"""File, line and column of a condition."""


class Machine(Calls, Attributes, Classes, Operators, Imports):
    """Interprets one program. Not reusable: modules it has run stay as the program left them."""

    def __init__(
        self,
        sources: Sources,
        meter: Meter,
        decisions: dict[Site, bool] | None = None,
        eager: bool = False,
    ) -> None:
        super().__init__()
        self.sources = sources
        self.meter = meter
        self.eager = eager
        self.decisions = decisions or {}
        self.branches: dict[Site, tuple[str, bool]] = {}
        """Conditions that could not be decided: the reason and the way taken."""
        self.import_sites: set[Site] = set()
        """The same met while a module's body ran."""
        self.taints = []
        self.doubts = 0
        """How often something was met that cannot be told, or that depends on who asks."""
        self.memo: Memo | None = None
        """Submodules built before, where the program is kept for several constructions."""
        self.import_guard = 0
        self.call_depth = 0
        self.modules = {}
        self.searching = set()
        self.classes = {}
        self.host_classes = {}
        self.builtins = {}
        self.state: dict[str, Any] = {}
        """What libraries remember, by library."""
        self.frame = Frame(PythonModule("<none>"), None, {})
        install(self)

    # classes of values

    def type_of(self, value: Value) -> Class:
        kind = value.__class__
        if kind in INSTANCE_TYPES:
            return value.cls  # type: ignore[no-any-return]
        found = self.host_classes.get(kind)
        if found is not None:
            if kind is Class and value.metaclass is not None:
                return value.metaclass  # type: ignore[no-any-return]
            return found
        cls = getattr(value, "cls", None)
        if isinstance(cls, Class):
            return cls
        if kind.__module__.startswith("neurarch_schemas"):
            # our own views of dictionaries
            host = next((base for base in kind.__mro__[1:-1] if base in self.host_classes), None)
            if host is not None:
                return self.host_classes[host]
        name = {
            Function: "function",
            Builtin: "builtin_function_or_method",
            NativeMethod: "builtin_function_or_method",
            BoundMethod: "method",
            Generator: "generator",
            PythonModule: "module",
            Partial: "partial",
        }.get(kind, kind.__name__)
        made = self.host_classes[kind] = Class(
            self, name, (), {}, "types", construct=lambda machine, *args, **kwargs: Unknown(f"a new {name}")
        )
        return made

    def is_instance(self, value: Value, classes: Value) -> Value:
        if isinstance(classes, tuple | list):
            doubt: Unknown | None = None
            for each in classes:
                result = self.is_instance(value, each)
                if result is True:
                    return True
                if type(result) is Unknown:
                    doubt = result
            return False if doubt is None else doubt
        if value.__class__ is Unknown:
            return Unknown(value.reason, data=True)
        if classes.__class__ is Unknown:
            if value is None or (isinstance(value, bool | int | float | str) and not classes.data):
                return False
            return Unknown(classes.reason, data=True)
        if isinstance(classes, Class):
            cls = self.type_of(value)
            if classes in cls.mro:
                return True
            if classes.instance_check is not None:
                return classes.instance_check(value)
            if classes.metaclass is not None:
                found = classes.metaclass.lookup("__instancecheck__")
                if found.__class__ is Function:
                    return self.call_method(classes, found, [value])
            if classes.name == "object":
                return True
            if cls.unknown_base is not None:
                return Unknown(cls.unknown_base.reason, data=True)
            return False
        if isinstance(classes, TypingForm):
            if classes.name in ("Union", "Optional"):
                wanted = [each if each is not None else self.host_classes[type(None)] for each in classes.args]
                return self.is_instance(value, tuple(wanted)) or (classes.name == "Optional" and value is None)
            known = self.builtins["<typing classes>"].get(classes.name)
            if known is not None:
                return self.is_instance(value, known)
            return Unknown(f"typing.{classes.name}", data=True)
        if classes is None:
            return value is None
        self.fail("TypeError", "isinstance() arg 2 must be a type, a tuple of types, or a union")
        return None

    def is_subclass(self, cls: Value, classes: Value) -> Value:
        if isinstance(classes, tuple):
            results = [self.is_subclass(cls, each) for each in classes]
            if any(result is True for result in results):
                return True
            return next((result for result in results if type(result) is Unknown), False)
        if type(cls) is Unknown or type(classes) is Unknown:
            return Unknown("an unknown class", data=True)
        if not isinstance(cls, Class):
            self.fail("TypeError", "issubclass() arg 1 must be a class")
        if isinstance(classes, Class):
            if classes in cls.mro or classes.name == "object":
                return True
            return Unknown(cls.unknown_base.reason, data=True) if cls.unknown_base is not None else False
        return False

    def lookup_class(self, name: str) -> Class:
        module, _, attribute = name.rpartition(".")
        if module == "builtins":
            return self.builtins[attribute]  # type: ignore[no-any-return]
        return self.module_attr(self.import_module(module), attribute)  # type: ignore[no-any-return]

    def is_module(self, value: Value) -> bool:
        return value.__class__ is Instance and "_modules" in value.attrs

    # truth and iteration

    def truth(self, value: Value) -> bool:
        kind = value.__class__
        if kind is bool:
            return value  # type: ignore[no-any-return]
        if kind is Unknown:
            raise UnknownTruth(value)
        if kind in INSTANCE_TYPES and kind is not Instance:
            for name in ("__bool__", "__len__"):
                found = value.cls.lookup(name)
                if found is not MISSING:
                    return bool(self.call_method(value, found, []))
        try:
            return bool(value)
        except (TypeError, ValueError, AttributeError) as error:
            raise self.convert(error) from None

    def iterate(self, value: Value) -> Iterator[Value]:
        kind = value.__class__
        if kind is list or kind is tuple:
            if len(value) > 255:
                self.meter.work(len(value) >> 5)
            return iter(value)
        if kind is Unknown:
            raise UnknownTruth(value)
        if kind is dict or kind is str or kind is set:
            if len(value) > 255:
                self.meter.work(len(value) >> 5)
            return iter(value)
        if kind in INSTANCE_TYPES:
            found = value.cls.lookup("__iter__")
            if found is not MISSING:
                return self.iterate(self.call_method(value, found, []))
            if kind is Instance:
                if value.cls.lookup("__next__") is not MISSING:
                    return self._drive(value)
                if value.cls.lookup("__getitem__") is not MISSING:
                    return value._sequence_iterator()  # type: ignore[no-any-return]
                if value.cls.unknown_base is not None:
                    raise UnknownTruth(value.cls.unknown_base)
                self.fail("TypeError", f"'{value.cls.name}' object is not iterable")
        if kind is Class:
            if value.metaclass is not None:
                found = value.metaclass.lookup("__iter__")
                if found is not MISSING:
                    return self.iterate(self.call_method(value, found, []))
            self.fail("TypeError", f"type object '{value.name}' is not iterable")
        method = getattr(kind, "interpreted_iter", None)
        if method is not None:
            return method(value, self)  # type: ignore[no-any-return]
        if kind.__module__.startswith("neurarch_schemas") and not hasattr(kind, "__iter__"):
            self.fail("TypeError", f"'{self.type_of(value).name}' object is not iterable")
        try:
            iterator = iter(value)
        except TypeError as error:
            raise self.convert(error) from None
        return self._metered(iterator)

    def _metered(self, iterator: Iterator[Value]) -> Iterator[Value]:
        """Counts what an iterator gives, since the host's own loops over it do not."""
        meter = self.meter
        for count, item in enumerate(iterator):
            meter.steps += 1
            if meter.steps > meter.next_check:
                meter.check()
                if count > _MOST_ITEMS:
                    raise BudgetExceeded(f"an iteration of more than {_MOST_ITEMS:,} items")
            yield item

    def _drive(self, value: Instance) -> Iterator[Value]:
        while True:
            try:
                item = value._required("__next__")
            except Raised as error:
                if error.value.cls.name == "StopIteration":
                    return
                raise
            yield item

    # decisions on unknown values

    def decide(self, unknown: Unknown, node: ast.AST, frame: Frame, yes: list[ast.stmt], no: list[ast.stmt]) -> bool:
        """Which way to go. Remembered, so that the other way can be tried in another run."""
        self.doubts += 1
        if yes and isinstance(yes[-1], ast.Raise):
            return False
        if no and isinstance(no[-1], ast.Raise):
            return True
        site = (frame.module.file or frame.module.name, getattr(node, "lineno", 0), getattr(node, "col_offset", 0))
        chosen = self.decisions.get(site, False)
        if _is_quiet(yes) and _is_quiet(no):
            return chosen
        if self.importing:
            self.import_sites.add(site)
        else:
            self.branches.setdefault(site, (unknown.reason, chosen))
        return chosen

    def taint(self, reason: str) -> None:
        self.doubts += 1
        if self.importing:
            return
        if reason not in self.taints and len(self.taints) < 50:
            where = self.where() if ".py:" not in reason else ""
            self.taints.append(f"{reason} ({where})" if where else reason)

    # errors

    def where(self) -> str:
        frame = self.frame
        file = frame.module.file or frame.module.name
        # a text of ours that stands for a package is no place a person could look at
        return "" if file.endswith(".txt") else f"{os.path.basename(file)}:{frame.line}"

    def raised(self, name: str, message: str = "") -> Raised:
        cls = self.builtins[name]
        instance = Instance(cls)
        instance.attrs["args"] = (message,) if message else ()
        return Raised(instance, self.where())

    def convert(self, error: Exception) -> Raised:
        name = type(error).__name__
        if name not in EXCEPTIONS:
            name = "Exception"
        made = self.raised(name, "")
        made.value.attrs["args"] = tuple(arg for arg in error.args if isinstance(arg, str | int | float | tuple))
        made.__cause__ = error
        return made

    def describe(self, error: Raised) -> str:
        value = error.value
        message = ""
        args = value.attrs.get("args", ())
        if args:
            first = args[0]
            if isinstance(first, str):
                message = first[:300]
            elif isinstance(first, int | float) or (
                isinstance(first, tuple) and all(isinstance(each, int | float | str) for each in first[:100])
            ):
                message = repr(first[:100] if isinstance(first, tuple) else first)
        text = f"{value.cls.name}: {message}" if message else str(value.cls.name)
        return f"{text[:300]} ({error.where})" if error.where else text[:300]

    # formatting

    def format_string(self, text: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
        return _Formatter(self).vformat(text, args, kwargs)


class _Formatter(string.Formatter):
    """``str.format`` that reads attributes through the machine, never from host objects."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine

    def get_field(self, field_name: str, args: Any, kwargs: Any) -> Any:
        import _string  # type: ignore[import-not-found]  # of the host, without stubs

        first, rest = _string.formatter_field_name_split(field_name)
        value = self.get_value(first, args, kwargs)
        for is_attribute, name in rest:
            value = self.machine.get_attr(value, name) if is_attribute else self.machine.subscript(value, name)
        return value, first

    def format_field(self, value: Any, format_spec: str) -> str:
        if type(value) is Unknown:
            raise UnknownTruth(value)
        if sum(character.isdecimal() for character in format_spec) > 4:
            raise ValueError("format width is too large")
        charge(self.machine.meter, value)
        return format(value, format_spec)

    def convert_field(self, value: Any, conversion: Any) -> Any:
        if conversion:
            charge(self.machine.meter, value)
        return super().convert_field(value, conversion)


_QUIET_CALLS = ("warn", "warning", "info", "debug", "print", "log", "warning_once", "error", "deprecate", "info_once")


def _is_quiet(body: list[ast.stmt]) -> bool:
    """Statements without an effect on what is built: messages, docstrings, nothing."""
    for statement in body:
        if isinstance(statement, ast.Pass | ast.Assert | ast.Raise):
            continue
        if isinstance(statement, ast.Expr):
            value = statement.value
            if isinstance(value, ast.Constant):
                continue
            if isinstance(value, ast.Call):
                name = value.func.attr if isinstance(value.func, ast.Attribute) else getattr(value.func, "id", "")
                if name in _QUIET_CALLS:
                    continue
        return False
    return True
