"""Operators and subscripts. The host's operators do the work; what could grow without bound is guarded first."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from neurarch_schemas.interpreter.core import HOST_ERRORS, Core
from neurarch_schemas.interpreter.values import (
    INSTANCE_TYPES,
    MISSING,
    Class,
    Function,
    Instance,
    TypingForm,
    Unknown,
    UnknownTruth,
    Value,
    derived,
)
from neurarch_schemas.interpreter.work import charge, charge_length

BINARY: dict[type, tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Add: ("add", operator.add),
    ast.Sub: ("sub", operator.sub),
    ast.Mult: ("mul", operator.mul),
    ast.Div: ("truediv", operator.truediv),
    ast.FloorDiv: ("floordiv", operator.floordiv),
    ast.Mod: ("mod", operator.mod),
    ast.Pow: ("pow", operator.pow),
    ast.BitAnd: ("and", operator.and_),
    ast.BitOr: ("or", operator.or_),
    ast.BitXor: ("xor", operator.xor),
    ast.LShift: ("lshift", operator.lshift),
    ast.RShift: ("rshift", operator.rshift),
    ast.MatMult: ("matmul", operator.matmul),
}
IN_PLACE: dict[type, tuple[str, Callable[[Any, Any], Any]]] = {
    kind: (f"i{name}", getattr(operator, f"i{name}")) for kind, (name, _) in BINARY.items()
}
COMPARE: dict[type, tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Eq: ("__eq__", operator.eq),
    ast.NotEq: ("__ne__", operator.ne),
    ast.Lt: ("__lt__", operator.lt),
    ast.LtE: ("__le__", operator.le),
    ast.Gt: ("__gt__", operator.gt),
    ast.GtE: ("__ge__", operator.ge),
}


class Operators(Core):
    def binary(self, operator: type, left: Value, right: Value) -> Value:
        name, function = BINARY[operator]
        kind = left.__class__
        if kind is int and right.__class__ is int and operator is not ast.Pow and operator is not ast.LShift:
            try:
                result = function(left, right)
            except HOST_ERRORS as error:
                raise self.convert(error) from None
            if operator is ast.Mult:
                self._integer(result)
            return result
        if kind is Unknown or right.__class__ is Unknown:
            return derived(left, right)
        if kind in INSTANCE_TYPES or right.__class__ in INSTANCE_TYPES:
            result = self._special(name, left, right)
            if result is not NotImplemented:
                return result
        self._guard(operator, left, right)
        try:
            result = function(left, right)
        except UnknownTruth as error:
            return derived(error.unknown)
        except HOST_ERRORS as error:
            raise self.convert(error) from None
        if result.__class__ is int:
            self._integer(result)
        else:
            charge_length(self.meter, result)
        return result

    def _special(self, name: str, left: Value, right: Value) -> Value:
        """The interpreted special method, or NotImplemented."""
        for receiver, other, method in ((left, right, f"__{name}__"), (right, left, f"__r{name}__")):
            if receiver.__class__ in INSTANCE_TYPES:
                found = receiver.cls.lookup(method)
                if found is not MISSING:
                    result = self.call_method(receiver, found, [other])
                    if result is not NotImplemented:
                        return result
        return NotImplemented

    def _guard(self, operator: type, left: Value, right: Value) -> None:
        bits = self.meter.budgets.bits
        if operator is ast.Pow and isinstance(left, int) and isinstance(right, int) and right > 0:
            if left.bit_length() * right > bits:
                self.fail("OverflowError", "an integer grows too large")
        elif operator is ast.LShift and isinstance(left, int) and isinstance(right, int):
            if right > bits:
                self.fail("OverflowError", "an integer grows too large")
        elif operator is ast.Mult:
            if isinstance(right, str | bytes | list | tuple):
                left, right = right, left
            if isinstance(left, str | bytes) and isinstance(right, int):
                self.meter.size(len(left) * right, "a string", 50)
            elif isinstance(left, list | tuple) and isinstance(right, int):
                self.meter.size(len(left) * right)
        elif operator is ast.Add and isinstance(left, str | bytes | list | tuple):
            self.meter.size(len(left), factor=50 if isinstance(left, str | bytes) else 1)
        elif operator is ast.Mod and isinstance(left, str):
            self._guard_format(left)
            charge(self.meter, right)
        elif isinstance(left, set | frozenset | dict):
            charge_length(self.meter, left)
            charge_length(self.meter, right)

    def _guard_format(self, text: str) -> None:
        run = 0
        for character in text:
            run = run + 1 if character.isdecimal() else 0
            if run > 4:
                self.fail("ValueError", "format width is too large")
            if character == "*":
                self.fail("ValueError", "format width from an argument")

    def _integer(self, value: int) -> None:
        if value.bit_length() > self.meter.budgets.bits:
            self.fail("OverflowError", "an integer grows too large")

    def in_place(self, operator: type, left: Value, right: Value) -> Value:
        self.touch(left)
        if left.__class__ is Unknown or right.__class__ is Unknown:
            return derived(left, right)
        if left.__class__ is Instance:
            found = left.cls.lookup(f"__{IN_PLACE[operator][0]}__")
            if found is not MISSING:
                return self.call_method(left, found, [right])
        elif isinstance(left, list) and operator is ast.Add:
            try:
                for item in self.iterate(right):
                    left.append(item)
                    self.meter.size(len(left))
            except UnknownTruth as error:
                self.taint(f"a list extended by an unknown value: {error.unknown.reason}")
                return Unknown(error.unknown.reason)
            return left
        elif isinstance(left, dict | set) and operator is not ast.Mult:
            charge_length(self.meter, right)
            try:
                return IN_PLACE[operator][1](left, right)
            except HOST_ERRORS as error:
                raise self.convert(error) from None
        return self.binary(operator, left, right)

    def compare(self, operator: type, left: Value, right: Value) -> Value:
        if operator is ast.Is:
            return self._same(left, right)
        if operator is ast.IsNot:
            result = self._same(left, right)
            return derived(result) if type(result) is Unknown else not result
        if operator is ast.In or operator is ast.NotIn:
            result = self._contains(right, left)
            if type(result) is Unknown:
                return result
            return result if operator is ast.In else not result
        if left.__class__ is Unknown or right.__class__ is Unknown:
            return derived(left, right)
        name, function = COMPARE[operator]
        if left.__class__ in INSTANCE_TYPES and left.__class__ is not Instance:
            found = left.cls.lookup(name)
            if found is not MISSING:
                return self.call_method(left, found, [right])
        if left is not right:
            self._charge_comparison(operator, left, right)
        try:
            return function(left, right)
        except UnknownTruth as error:
            return derived(error.unknown)
        except RecursionError:
            return Unknown("a comparison that nests too deeply", data=True)
        except HOST_ERRORS as error:
            raise self.convert(error) from None

    def _charge_comparison(self, operator: type, left: Value, right: Value) -> None:
        """Containers of different lengths are told apart at once."""
        if left.__class__ in (int, float, bool, str) or left is None:
            return
        if isinstance(left, TypingForm):
            charge(self.meter, left)
        elif isinstance(left, bytes | list | tuple | dict | set | frozenset):
            ordered = operator is not ast.Eq and operator is not ast.NotEq
            if isinstance(right, bytes | list | tuple | dict | set | frozenset) and (
                ordered or len(left) == len(right)
            ):
                charge(self.meter, left)

    def _same(self, left: Value, right: Value) -> Value:
        if left.__class__ is Unknown or right.__class__ is Unknown:
            other = right if left.__class__ is Unknown else left
            unknown = left if left.__class__ is Unknown else right
            if left is right:
                return True
            if other is None and getattr(unknown, "not_none", False):
                return False
            return derived(left, right)
        if left is right:
            return True
        if isinstance(left, int | str) and left.__class__ is right.__class__ and left.__class__ is not Instance:
            # small integers and interned strings are one object in CPython
            return bool(left == right) if left.__class__ in (int, str) else False
        return left.__class__.__name__ in ("BoundMethod", "NativeMethod") and bool(left == right)

    def _contains(self, container: Value, item: Value) -> Value:
        if container.__class__ is Unknown:
            return derived(container)
        try:
            if item.__class__ is Unknown:
                return derived(item) if container.__class__ is not tuple or container else False
            if container.__class__ in INSTANCE_TYPES:
                found = container.cls.lookup("__contains__")
                if found is not MISSING:
                    return self.truth(self.call_method(container, found, [item]))
                if container.__class__ is Instance:
                    return any(
                        item is each or self.truth(self.compare(ast.Eq, item, each)) for each in self.iterate(container)
                    )
            if isinstance(container, Class):
                method = self.find_attr(container.metaclass, "__contains__") if container.metaclass else MISSING
                if method is not MISSING:
                    return self.truth(self.call_method(container, method, [item]))
                return any(item is each or item == each for each in self.iterate(container))
            if isinstance(container, str | bytes | list | tuple | dict | set | frozenset | range):
                if isinstance(container, dict | set | frozenset):
                    charge(self.meter, item)
                elif not isinstance(container, range):
                    charge_length(self.meter, container)
                    if isinstance(item, list | tuple | dict):
                        charge(self.meter, container)
                return item in container
            return any(item is each or self.truth(self.compare(ast.Eq, item, each)) for each in self.iterate(container))
        except UnknownTruth as error:
            return derived(error.unknown)
        except HOST_ERRORS as error:
            raise self.convert(error) from None

    def subscript(self, value: Value, key: Value) -> Value:
        kind = value.__class__
        if kind is Unknown:
            return value
        if kind in INSTANCE_TYPES:
            found = value.cls.lookup("__getitem__")
            if found is not MISSING:
                return self.call_method(value, found, [key])
            if kind is Instance:
                self.fail("TypeError", f"'{value.cls.name}' object is not subscriptable")
            if isinstance(value, dict) and key.__class__ is not Unknown and key not in value:
                missing = self.type_of(value).lookup("__missing__")
                if missing is not MISSING:
                    return self.call_method(value, missing, [key])
        if kind is Class:
            return self._subscript_class(value, key)
        if kind is TypingForm:
            return TypingForm(value.name, key if isinstance(key, tuple) else (key,))
        if key.__class__ is Unknown or (
            key.__class__ is slice and any(type(each) is Unknown for each in (key.start, key.stop, key.step))
        ):
            # every item may be meant: unknown, but no more than data if all items are data
            items = (
                list(value.values()) if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
            )
            data = bool(items) and all(isinstance(item, bool | int | float | str) or item is None for item in items)
            reason = key.reason if key.__class__ is Unknown else "an unknown slice"
            return Unknown(reason, data=data or isinstance(value, str))
        method = getattr(kind, "interpreted_getitem", None)
        if method is not None:
            return method(value, self, key)
        if not isinstance(value, str | bytes | list | tuple | dict | range) and not hasattr(kind, "__getitem__"):
            self.fail("TypeError", f"'{self.type_of(value).name}' object is not subscriptable")
        if isinstance(value, dict):
            charge(self.meter, key)
        try:
            found = value[key]
            if key.__class__ is slice:
                charge_length(self.meter, found)
            return found
        except UnknownTruth as error:
            return Unknown(error.unknown.reason)
        except HOST_ERRORS as error:
            raise self.convert(error) from None

    def _subscript_class(self, cls: Class, key: Value) -> Value:
        if cls.metaclass is not None:
            found = cls.metaclass.lookup("__getitem__")
            if found is not MISSING:
                return self.call_method(cls, found, [key])
        found = cls.lookup("__class_getitem__")
        if found is not MISSING:
            return self.call(self.get_attr(cls, "__class_getitem__"), [key], {})
        return TypingForm(cls.name, key if isinstance(key, tuple) else (key,)) if cls.native else cls

    def set_item(self, value: Value, key: Value, item: Value) -> None:
        kind = value.__class__
        if kind is Unknown:
            return
        if kind in INSTANCE_TYPES:
            found = value.cls.lookup("__setitem__")
            if found is not MISSING:
                self.call_method(value, found, [key, item])
                return
        self.touch(value)
        if key.__class__ is Unknown:
            if isinstance(value, dict | list) and not (isinstance(value, dict) and item.__class__ is Function):
                self.taint(f"an item set under an unknown key: {key.reason}")
            return
        method = getattr(kind, "interpreted_setitem", None)
        if method is not None:
            method(value, self, key, item)
            return
        if not isinstance(value, dict | list):
            if kind is Instance or isinstance(value, str | tuple | int | float) or value is None:
                self.fail("TypeError", f"'{self.type_of(value).name}' object does not support item assignment")
            if not hasattr(kind, "__setitem__"):
                return
        if isinstance(value, dict):
            charge(self.meter, key)
        elif key.__class__ is slice:
            charge_length(self.meter, value)
        try:
            value[key] = list(self.iterate(item)) if key.__class__ is slice else item
        except UnknownTruth as error:
            self.taint(error.unknown.reason)
        except HOST_ERRORS as error:
            raise self.convert(error) from None

    def del_item(self, value: Value, key: Value) -> None:
        self.touch(value)
        if value.__class__ in INSTANCE_TYPES:
            found = value.cls.lookup("__delitem__")
            if found is not MISSING:
                self.call_method(value, found, [key])
                return
        if value.__class__ is Unknown or key.__class__ is Unknown:
            return
        if isinstance(value, dict):
            charge(self.meter, key)
        else:
            charge_length(self.meter, value)
        try:
            del value[key]
        except HOST_ERRORS as error:
            raise self.convert(error) from None
