"""Calls: binding of arguments, functions, methods of host values, classes and callable instances."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

from neurarch_schemas.interpreter.budgets import BudgetExceeded
from neurarch_schemas.interpreter.core import HOST_ERRORS, Core
from neurarch_schemas.interpreter.scopes import Frame, Parameters, function_facts
from neurarch_schemas.interpreter.statements import Return, Statements
from neurarch_schemas.interpreter.values import (
    INSTANCE_TYPES,
    MISSING,
    BoundMethod,
    Builtin,
    Class,
    ClassMethod,
    Function,
    Generator,
    NativeMethod,
    Partial,
    Raised,
    StaticMethod,
    TypingForm,
    Unknown,
    UnknownTruth,
    Value,
    derived,
)
from neurarch_schemas.interpreter.work import charge, charge_length, charge_sort

# Methods that store or compare their arguments without needing to know them.
_ACCEPT_UNKNOWN = frozenset(
    {"append", "add", "insert", "extend", "update", "setdefault", "appendleft", "get", "pop", "__setitem__", "fromkeys"}
)
# Methods of containers that take the same time whatever the length, and those that look one key up.
_CONSTANT_WORK = frozenset({"append", "appendleft", "popleft", "popitem", "move_to_end", "__len__", "__iter__"})
_VIEWS = frozenset({"items", "keys", "values"})
_ONE_KEY = frozenset({"get", "pop", "setdefault", "add", "discard", "remove", "__contains__", "__getitem__"})
_CHANGES = frozenset(
    {"append", "appendleft", "extend", "extendleft", "insert", "pop", "popleft", "popitem", "remove", "clear", "update"}
    | {"setdefault", "add", "discard", "sort", "reverse", "rotate", "move_to_end", "subtract", "__setitem__"}
    | {"difference_update", "intersection_update", "symmetric_difference_update", "__delitem__", "__iadd__"}
)
# Functions that look at no more than the outermost list.
_SHALLOW = frozenset(
    {"len", "isinstance", "issubclass", "print", "getattr", "setattr", "hasattr", "id", "iter", "zip", "enumerate"}
    | {"deepcopy", "copy", "any", "all", "reversed", "map", "filter", "callable"}
)


class Calls(Statements, Core):
    call_depth: int = 0

    def call(self, function: Value, args: list[Value], kwargs: dict[str, Value]) -> Value:
        kind = function.__class__
        if kind is BoundMethod:
            args = [function.receiver, *args]
            function = function.function
            kind = function.__class__
        if kind is Function:
            return self._call_function(function, args, kwargs)
        if kind is Builtin:
            if function.name not in _SHALLOW:
                self._charge_nested(args)
            try:
                return function.function(self, *args, **kwargs)
            except UnknownTruth as error:
                return self._undecided(error, args)
            except HOST_ERRORS as error:
                raise self.convert(error) from error
        if kind is Class:
            return self._call_class(function, args, kwargs)
        if kind is NativeMethod:
            return self._call_native(function, args, kwargs)
        if kind is Partial:
            return self.call(function.function, [*function.args, *args], {**function.keywords, **kwargs})
        if kind in INSTANCE_TYPES:
            found = function.cls.lookup("__call__")
            if found is MISSING:
                if function.cls.unknown_base is not None:
                    return Unknown(function.cls.unknown_base.reason)
                self.fail("TypeError", f"'{function.cls.name}' object is not callable")
            return self.call_method(function, found, args, kwargs)
        if kind is Unknown:
            return self._call_unknown(function, args, kwargs)
        if kind is TypingForm:
            return args[0] if len(args) == 1 and not kwargs else Unknown(f"typing.{function.name}", data=True)
        if kind is StaticMethod or kind is ClassMethod:
            return self.call(function.function, args, kwargs)
        method = getattr(kind, "interpreted_call", None)
        if method is not None:
            return method(function, self, *args, **kwargs)
        self.fail("TypeError", f"'{self.type_of(function).name}' object is not callable")
        return None

    def _charge_nested(self, args: list[Value]) -> None:
        """Functions of ours read the lists of lists they are given, e.g. ``torch.tensor``."""
        for value in args:
            if value.__class__ in (list, tuple) and value and value[0].__class__ in (list, tuple):
                charge(self.meter, value)

    def _undecided(self, error: UnknownTruth, args: list[Value]) -> Unknown:
        return derived(error.unknown)

    def _call_unknown(self, function: Unknown, args: list[Value], kwargs: dict[str, Value]) -> Unknown:
        if not function.data and any(self.is_module(value) for value in (*args, *kwargs.values())):
            self.taint(f"a module is handed to something unknown: {function.reason}")
        return function

    def call_method(
        self, receiver: Value, found: Value, args: list[Value], kwargs: dict[str, Value] | None = None
    ) -> Value:
        """Call what was found on the receiver's class."""
        kind = found.__class__
        if kind is Function:
            return self._call_function(found, [receiver, *args], kwargs or {})
        if kind is StaticMethod:
            return self.call(found.function, args, kwargs or {})
        if kind is ClassMethod:
            return self.call(found.function, [self.type_of(receiver), *args], kwargs or {})
        if kind is Builtin and not found.binds:
            return self.call(found, args, kwargs or {})
        if kind is Builtin:
            return self.call(found, [receiver, *args], kwargs or {})
        if kind is Unknown:
            return found
        return self.call(found, args, kwargs or {})

    # interpreted functions

    def _call_function(self, function: Function, args: list[Value], kwargs: dict[str, Value]) -> Value:
        meter = self.meter
        meter.steps += 1
        if meter.steps > meter.next_check:
            meter.check()
        node = function.node
        facts = function_facts(node)
        frame = Frame(function.module, function.frame, self._bind(function, facts.parameters, args, kwargs))
        frame.function = function
        frame.global_names = facts.global_names
        frame.nonlocals = facts.nonlocals
        frame.line = node.lineno
        if facts.yields:
            return self._start_generator(node, frame)
        if node.__class__ is ast.AsyncFunctionDef:
            return Unknown("asynchronous code", data=True)
        if self.call_depth >= meter.budgets.depth:
            raise BudgetExceeded(f"calls nest deeper than {meter.budgets.depth} (in {function.qualname})")
        caller = frame.caller = self.frame
        self.frame = frame
        self.call_depth += 1
        try:
            if node.__class__ is ast.Lambda:
                return self.evaluate(node.body, frame)
            signal = self.execute(node.body, frame)  # type: ignore[arg-type]
        finally:
            self.call_depth -= 1
            self.frame = caller
            frame.caller = None
        return signal.value if signal.__class__ is Return else None

    def _start_generator(self, node: Any, frame: Frame) -> Generator:
        generator = Generator(iter(()))

        def run() -> Iterator[Value]:
            signal = yield from self.suspend(node.body, frame)
            generator.returned = signal.value if isinstance(signal, Return) else None

        generator.iterator = run()
        return generator

    def advance(self, generator: Generator) -> Value:
        try:
            return next(generator.iterator)
        except StopIteration:
            self.fail("StopIteration")

    def _bind(
        self, function: Function, parameters: Parameters, args: list[Value], kwargs: dict[str, Value]
    ) -> dict[str, Value]:
        """The local variables a call starts with. Raises an interpreted TypeError."""
        positional, by_keyword, keyword_only, rest, options = parameters
        count, expected = len(args), len(positional)
        variables: dict[str, Value] = dict(zip(positional, args, strict=False))
        if rest is not None:
            variables[rest] = tuple(args[expected:])
        elif count > expected:
            self.fail("TypeError", f"{function.name}() takes {expected} positional arguments but {count} were given")
        extra: dict[str, Value] = {}
        for name, value in kwargs.items():
            if name in by_keyword:
                if name in variables:
                    self.fail("TypeError", f"{function.name}() got multiple values for argument '{name}'")
                variables[name] = value
            elif options is not None:
                extra[name] = value
            else:
                self.fail("TypeError", f"{function.name}() got an unexpected keyword argument '{name}'")
        if options is not None:
            variables[options] = extra
        if count < expected:
            defaults = function.defaults
            first_default = expected - len(defaults)
            for index in range(count, expected):
                name = positional[index]
                if name not in variables:
                    if index < first_default:
                        self.missing_argument(function, name)
                    variables[name] = defaults[index - first_default]
        for name in keyword_only:
            if name not in variables:
                if name not in function.kwdefaults:
                    self.missing_argument(function, name)
                variables[name] = function.kwdefaults[name]
        return variables

    def missing_argument(self, function: Function, name: str) -> None:
        error = self.raised("TypeError", f"{function.qualname}() is missing the argument '{name}'")
        error.value.attrs["<missing argument>"] = (function.qualname, name)
        raise error

    # methods of host values

    def _call_native(self, method: NativeMethod, args: list[Value], kwargs: dict[str, Value]) -> Value:
        receiver, name = method.receiver, method.name
        if name in _CHANGES:
            self.touch(receiver)
        if name not in _ACCEPT_UNKNOWN and not isinstance(receiver, list | set | tuple):
            for value in args:
                if value.__class__ is Unknown:
                    return derived(value)
        if args and args[0].__class__ is Unknown:
            if name in ("extend", "update"):
                self.taint(f"a container extended by an unknown value: {args[0].reason}")
                return None
            if name in ("get", "pop", "setdefault") and isinstance(receiver, dict):
                return Unknown(args[0].reason)
        try:
            if isinstance(receiver, str):
                self._guard_string(receiver, name, args)
                if name == "format":
                    return self.format_string(receiver, args, kwargs)
            elif isinstance(receiver, list):
                if name == "sort":
                    receiver[:] = self.sort(receiver, **kwargs)
                    return None
                self.meter.size(len(receiver))
                if name == "extend":
                    for item in self.iterate(args[0]):
                        receiver.append(item)
                        self.meter.size(len(receiver))
                    return None
            elif name == "update" and isinstance(receiver, dict) and args:
                return self._update(receiver, args[0], kwargs)
            self._charge_native(receiver, name, args)
            result = getattr(receiver, name)(*args, **kwargs)
            if isinstance(result, str | list | tuple | set | frozenset | dict):
                charge_length(self.meter, result)
        except UnknownTruth as error:
            return derived(error.unknown)
        except HOST_ERRORS as error:
            raise self.convert(error) from error
        return result

    def _charge_native(self, receiver: Value, name: str, args: list[Value]) -> None:
        if name in _CONSTANT_WORK:
            return
        meter = self.meter
        if isinstance(receiver, dict | set | frozenset):
            if name in _VIEWS:
                return
            if name not in _ONE_KEY:
                charge_length(meter, receiver)
            for value in args[:1] if isinstance(receiver, dict) else args:
                charge(meter, value)
        elif isinstance(receiver, str | bytes):
            charge_length(meter, receiver)
            for value in args:
                charge(meter, value)
        elif name in ("insert", "pop", "copy", "reverse", "clear"):
            charge_length(meter, receiver)
        else:
            charge(meter, receiver)

    def _update(self, receiver: dict[Value, Value], other: Value, kwargs: dict[str, Value]) -> None:
        if isinstance(other, dict):
            pairs = list(dict.items(other))
        elif self.find_attr(other, "keys") is not MISSING:
            pairs = [
                (key, self.subscript(other, key))
                for key in self.iterate(self.call(self.get_attr(other, "keys"), [], {}))
            ]
        else:
            pairs = [tuple(self.iterate(pair)) for pair in self.iterate(other)]
        own = self.type_of(receiver).lookup("__setitem__")
        self.meter.work(len(pairs) >> 4)
        for key, value in [*pairs, *kwargs.items()]:
            charge(self.meter, key)
            if own.__class__ is Function:
                receiver[key] = value
            else:
                dict.__setitem__(receiver, key, value)

    def _guard_string(self, text: str, name: str, args: list[Value]) -> None:
        if name in ("center", "ljust", "rjust", "zfill", "expandtabs") and args and isinstance(args[0], int):
            self.meter.size(args[0], "a string", 50)
        elif name == "replace" and len(args) >= 2 and isinstance(args[1], str):
            self.meter.size(
                len(text) + (text.count(args[0]) if args[0] else len(text) + 1) * len(args[1]), "a string", 50
            )
        elif name == "join":
            args[0] = list(self.iterate(args[0]))
            for item in args[0]:
                if item.__class__ is Unknown:
                    raise UnknownTruth(item)
            characters = sum(len(item) for item in args[0] if isinstance(item, str | bytes))
            self.meter.size(len(args[0]) * (len(text) + 1) + characters, "a string", 50)

    def sort(self, values: Value, key: Value = None, reverse: Value = False) -> list[Value]:
        items = list(self.iterate(values))
        if key is None:
            charge_sort(self.meter, items)
            return sorted(items, reverse=bool(reverse))
        self.meter.work(len(items))
        return sorted(items, key=self.host_callable(key), reverse=bool(reverse))

    def host_callable(self, function: Value) -> Callable[..., Value]:
        return lambda *args: self.call(function, list(args), {})

    # classes

    def _call_class(self, cls: Class, args: list[Value], kwargs: dict[str, Value]) -> Value:
        if cls.metaclass is not None:
            found = cls.metaclass.lookup("__call__")
            if found is not MISSING:
                return self.call_method(cls, found, args, kwargs)
        if self.memo is not None and cls.node is not None:
            return self.memo.instantiate(cls, args, kwargs)
        return self.instantiate(cls, args, kwargs)

    def instantiate(self, cls: Class, args: list[Value], kwargs: dict[str, Value]) -> Value:
        if cls.construct is not None:
            self._charge_nested(args)
            try:
                return cls.construct(self, *args, **kwargs)
            except UnknownTruth as error:
                return derived(error.unknown)
            except HOST_ERRORS as error:
                raise self.convert(error) from error
        maker = cls.lookup("__new__")
        if maker is MISSING:
            instance = self.new_instance(cls, args, kwargs)
        else:
            if maker.__class__ is StaticMethod:
                maker = maker.function
            instance = self.call(maker, [cls, *args], kwargs)
            if instance.__class__ not in INSTANCE_TYPES or cls not in instance.cls.mro:
                return instance
        initializer = instance.cls.lookup("__init__")
        if initializer is not MISSING:
            self.call_method(instance, initializer, args, kwargs)
        elif cls.unknown_base is not None and cls.native is None:
            self.taint(f"a base class is unknown: {cls.unknown_base.reason}")
        elif (args or kwargs) and maker is MISSING and cls.native is None:
            self.fail("TypeError", f"{cls.name}() takes no arguments")
        return instance


__all__ = ["Calls", "Raised"]
