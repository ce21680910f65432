"""Attribute access: descriptors, instance and class attributes, and the methods of host values that may be called."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from typing import Any

from neurarch_schemas.interpreter.core import Core
from neurarch_schemas.interpreter.values import (
    INSTANCE_TYPES,
    MISSING,
    BoundMethod,
    Builtin,
    CachedProperty,
    Class,
    ClassMethod,
    Function,
    Generator,
    Instance,
    NativeMethod,
    Partial,
    Property,
    PythonModule,
    Raised,
    StaticMethod,
    Super,
    TypingForm,
    Unknown,
    Value,
)

_DICT = "clear copy fromkeys get items keys pop popitem setdefault update values"
_SET = (
    "add clear copy difference difference_update discard intersection intersection_update isdisjoint issubset "
    "issuperset pop remove symmetric_difference symmetric_difference_update union update"
)
NATIVE_METHODS: dict[type, frozenset[str]] = {
    host: frozenset(names.split())
    for host, names in {
        str: "__str__ __repr__ __format__ __eq__ __ne__ __lt__ __hash__ __add__ __mul__ __len__ __contains__ "
        "__getitem__ __iter__ "
        "capitalize casefold center count encode endswith expandtabs find format format_map index isalnum isalpha "
        "isascii isdecimal isdigit isidentifier islower isnumeric isprintable isspace istitle isupper join ljust lower "
        "lstrip maketrans partition removeprefix removesuffix replace rfind rindex rjust rpartition rsplit rstrip "
        "split splitlines startswith strip swapcase title translate upper zfill",
        bytes: "decode hex startswith endswith split strip join find replace lower upper",
        list: "append clear copy count extend index insert pop remove reverse sort __len__ __iter__ __getitem__ "
        "__contains__ __setitem__ __delitem__ __add__",
        tuple: "count index __len__ __iter__ __getitem__ __contains__ __add__",
        dict: _DICT + " __len__ __iter__ __getitem__ __contains__ __setitem__ __delitem__",
        OrderedDict: _DICT + " move_to_end __len__ __iter__ __getitem__ __contains__ __setitem__ __delitem__",
        defaultdict: _DICT + " __len__ __iter__ __getitem__ __contains__ __setitem__ __delitem__",
        set: _SET + " __len__ __iter__ __contains__",
        frozenset: "copy difference intersection isdisjoint issubset issuperset symmetric_difference union "
        "__contains__",
        deque: "append appendleft clear copy count extend extendleft index insert pop popleft remove reverse rotate",
        int: "bit_length bit_count conjugate is_integer to_bytes __index__ __int__ __add__ __eq__ __mul__",
        float: "is_integer hex conjugate as_integer_ratio __int__",
        complex: "conjugate",
        bool: "bit_length conjugate",
        range: "count index __len__ __iter__ __getitem__ __contains__",
        slice: "indices",
        type({}.keys()): "isdisjoint",
        type({}.items()): "isdisjoint",
    }.items()
}
_DATA: dict[type, frozenset[str]] = {
    int: frozenset({"real", "imag", "numerator", "denominator"}),
    bool: frozenset({"real", "imag"}),
    float: frozenset({"real", "imag"}),
    complex: frozenset({"real", "imag"}),
    slice: frozenset({"start", "stop", "step"}),
    range: frozenset({"start", "stop", "step"}),
    defaultdict: frozenset({"default_factory"}),
    deque: frozenset({"maxlen"}),
}


class Attributes(Core):
    def get_attr(self, value: Value, name: str) -> Value:
        found = self.find_attr(value, name)
        if found is MISSING:
            shown = (
                f"type object '{value.name}'"
                if isinstance(value, Class)
                else f"module '{value.name}'"
                if isinstance(value, PythonModule)
                else f"'{self.type_of(value).name}' object"
            )
            error = self.raised("AttributeError", f"{shown} has no attribute '{name}'")
            error.value.attrs["name"] = name
            raise error
        return found

    def find_attr(self, value: Value, name: str) -> Value:
        kind = value.__class__
        if kind in INSTANCE_TYPES:
            return self._instance_attr(value, name)
        if kind is Class:
            return self._class_attr(value, name)
        if kind is PythonModule:
            return self.module_attr(value, name)
        if kind is Unknown:
            return value
        if kind is Super:
            return self._super_attr(value, name)
        method = getattr(kind, "interpreted_attr", None)
        if method is not None:
            return method(value, self, name)
        return self._plain_attr(value, name)

    # instances

    def _instance_attr(self, value: Any, name: str) -> Value:
        getter = value.cls.getter
        if getter is not MISSING:
            return self._fallback(value, getter, name)
        return self.plain_attr(value, name)

    def plain_attr(self, value: Any, name: str) -> Value:
        """``object.__getattribute__``, and ``__getattr__`` behind it."""
        cls: Class = value.cls
        found = cls.lookup(name)
        kind = found.__class__
        if kind is Property:
            if found.getter is None:
                return MISSING
            return self._property(value, found.getter, name)
        attrs = value.attrs
        if name in attrs:
            item = attrs[name]
            if found is not MISSING and kind is Instance and found.cls.lookup("__set__") is not MISSING:
                return self._descriptor(found, value, cls)
            return item
        if found is not MISSING:
            return self.bind(found, value, cls)
        if name == "__class__":
            return cls
        if name == "__dict__":
            return attrs
        if value.__class__ is not Instance:
            found = self._plain_attr(value, name, carrier=True)
            if found is not MISSING:
                return found
        getter = cls.lookup("__getattr__")
        if getter is not MISSING:
            return self._fallback(value, getter, name)
        if value.__class__ is Instance and name == "__doc__":
            return None
        if cls.unknown_base is not None:
            return Unknown(cls.unknown_base.reason)
        return MISSING

    def _property(self, value: Value, getter: Value, name: str) -> Value:
        try:
            return self.call(getter, [value], {})
        except Raised as error:
            if error.value.cls.name != "AttributeError":
                raise
            fallback = value.cls.lookup("__getattr__")
            if fallback is MISSING:
                raise
            return self._fallback(value, fallback, name)

    def _fallback(self, value: Value, getter: Value, name: str) -> Value:
        try:
            if getter.__class__ is Builtin:
                return getter.function(self, value, name)
            return self.call_method(value, getter, [name])
        except Raised as error:
            if error.value.cls.name == "AttributeError":
                if name == "__dict__":
                    return value.attrs
                return MISSING
            raise

    def bind(self, found: Value, value: Value, cls: Class) -> Value:
        kind = found.__class__
        if kind is Function:
            return BoundMethod(found, value)
        if kind is Builtin:
            return BoundMethod(found, value) if found.binds else found
        if kind is Property:
            return self.call(found.getter, [value], {})
        if kind is StaticMethod:
            return found.function
        if kind is ClassMethod:
            return BoundMethod(found.function, cls)
        if kind is CachedProperty:
            result = self.call(found.function, [value], {})
            value.attrs[found.name] = result
            return result
        if kind is Instance and found.cls.lookup("__get__") is not MISSING:
            return self._descriptor(found, value, cls)
        return found

    def _descriptor(self, descriptor: Instance, value: Value, cls: Class) -> Value:
        return self.call_method(descriptor, descriptor.cls.lookup("__get__"), [value, cls])

    # classes

    def _class_attr(self, cls: Class, name: str) -> Value:
        found = cls.lookup(name)
        if found is MISSING:
            return self._metaclass_attr(cls, name)
        kind = found.__class__
        if kind is Function or kind is Property or kind is CachedProperty:
            return found
        if kind is StaticMethod:
            return found.function
        if kind is ClassMethod:
            return BoundMethod(found.function, cls)
        if kind is Instance and found.cls.lookup("__get__") is not MISSING:
            return self.call_method(found, found.cls.lookup("__get__"), [None, cls])
        return found

    def _metaclass_attr(self, cls: Class, name: str) -> Value:
        match name:
            case "__name__":
                return cls.name
            case "__qualname__":
                return cls.qualname
            case "__module__":
                return cls.module
            case "__mro__":
                return cls.mro
            case "__bases__":
                return cls.bases or ((self.host_classes[object],) if cls is not self.host_classes[object] else ())
            case "__base__":
                return cls.bases[0] if cls.bases else None
            case "__dict__":
                return cls.namespace
            case "__class__":
                return self.type_of(cls)
            case "__doc__":
                return None
            case "__annotations__":
                return cls.namespace.setdefault("__annotations__", {})
            case "__subclasses__":
                return Builtin("__subclasses__", lambda machine: Unknown("subclasses", data=False))
            case "mro":
                return Builtin("mro", lambda machine: list(cls.mro))
        if cls.metaclass is not None:
            found = cls.metaclass.lookup(name)
            if found is not MISSING:
                return self.bind(found, cls, cls.metaclass)
            getter = cls.metaclass.lookup("__getattr__")
            if getter is not MISSING:
                try:
                    return self.call_method(cls, getter, [name])
                except Raised as error:
                    if error.value.cls.name != "AttributeError":
                        raise
        if cls.native is not None:
            allowed = NATIVE_METHODS.get(cls.native)
            if allowed is not None and name in allowed:
                return Builtin(name, _unbound(name))
        if cls.unknown_base is not None:
            return Unknown(cls.unknown_base.reason)
        if name in (
            "__init__",
            "__setattr__",
            "__new__",
            "__init_subclass__",
            "__getattribute__",
            "__eq__",
            "__hash__",
            "__repr__",
        ):
            return self.object_method(name)
        return MISSING

    def object_method(self, name: str) -> Value:
        """What ``object`` itself provides."""
        return self.builtins["<object>"].get(name, MISSING)

    def _super_attr(self, value: Super, name: str) -> Value:
        receiver = value.receiver
        cls = receiver if isinstance(receiver, Class) else receiver.cls
        mro = cls.mro
        if value.cls not in mro and isinstance(receiver, Class) and receiver.metaclass is not None:
            mro = receiver.metaclass.mro
        start = mro.index(value.cls) + 1 if value.cls in mro else 1
        for base in mro[start:]:
            if name in base.namespace:
                found = base.namespace[name]
                if isinstance(receiver, Class):
                    if found.__class__ is ClassMethod:
                        return BoundMethod(found.function, receiver)
                    if found.__class__ is StaticMethod:
                        return found.function
                    if found.__class__ in (Function, Builtin) and value.cls not in receiver.mro:
                        return BoundMethod(found, receiver)
                    return found
                return self.bind(found, receiver, cls)
        unknown = next((base.unknown_base for base in mro[start - 1 :] if base.unknown_base is not None), None)
        if unknown is not None and name not in ("__init_subclass__",):
            if name == "__init__":
                self.taint(f"a base class is unknown: {unknown.reason}")
            return Unknown(unknown.reason)
        found = self.object_method(name)
        if found is not MISSING:
            return BoundMethod(found, receiver) if found.binds else found
        if not isinstance(receiver, Class) and receiver.__class__ is not Instance:
            return self._plain_attr(receiver, name, carrier=True)
        if isinstance(receiver, Class) and value.cls not in receiver.mro:
            return self._type_method(name, receiver)
        return MISSING

    def _type_method(self, name: str, metaclass_or_class: Class) -> Value:
        if name == "__call__":
            return Builtin(
                "__call__", lambda machine, *args, **kwargs: machine.instantiate(metaclass_or_class, list(args), kwargs)
            )
        if name in ("__setattr__", "__init__", "__prepare__"):
            return Builtin(name, lambda machine, *args, **kwargs: None)
        return MISSING

    # everything else

    def _plain_attr(self, value: Value, name: str, carrier: bool = False) -> Value:
        kind: type = value.__class__
        if carrier:
            kind = next(host for host in kind.__mro__ if host in NATIVE_METHODS or host is object)
        allowed = NATIVE_METHODS.get(kind)
        if allowed is not None and name in allowed:
            return NativeMethod(value, name)
        data = _DATA.get(kind)
        if data is not None and name in data:
            return getattr(value, name)
        if kind is Function or kind is Builtin or kind is BoundMethod or kind is Partial:
            return self._function_attr(value, name)
        if kind is Property:
            return self._property_attr(value, name)
        if kind is Generator:
            return _generator_attr(value, name)
        if kind is StaticMethod or kind is ClassMethod:
            if name == "__func__" or name == "__wrapped__":
                return value.function
            return value.attrs.get(name, MISSING)
        if kind is TypingForm:
            if name == "__args__":
                return value.args
            if name == "__origin__":
                return value
            return value.attrs.get(name, Unknown(f"typing.{value.name}.{name}", data=True))
        if kind is CachedProperty and name == "func":
            return value.function
        if name == "__class__":
            return self.type_of(value)
        if name == "__doc__":
            return None
        if name in (
            "__len__",
            "__iter__",
            "__getitem__",
            "__contains__",
            "__next__",
            "__hash__",
            "__eq__",
            "__str__",
            "__repr__",
        ) and (
            hasattr(kind, name) and isinstance(value, str | bytes | list | tuple | dict | set | range | int | float)
        ):
            return NativeMethod(value, name)
        return MISSING

    def _function_attr(self, value: Value, name: str) -> Value:
        if value.__class__ is BoundMethod:
            if name == "__func__":
                return value.function
            if name == "__self__":
                return value.receiver
            return self.find_attr(value.function, name)
        if name in value.attrs:
            return value.attrs[name]
        if value.__class__ is Partial:
            return {"func": value.function, "args": tuple(value.args), "keywords": value.keywords}.get(name, MISSING)
        match name:
            case "__name__":
                return value.name
            case "__qualname__":
                return value.qualname if value.__class__ is Function else value.name
            case "__module__":
                return value.module.name if value.__class__ is Function else "builtins"
            case "__doc__":
                return None
            case "__dict__":
                return value.attrs
            case "__class__":
                return self.type_of(value)
            case "__call__":
                return value
            case "__get__":
                return Builtin("__get__", lambda machine, receiver, owner=None: BoundMethod(value, receiver))
            case "__wrapped__":
                return MISSING
            case "__defaults__" | "__kwdefaults__" if value.__class__ is Builtin:
                return None
        if value.__class__ is Function:
            match name:
                case "__defaults__":
                    return tuple(value.defaults) or None
                case "__kwdefaults__":
                    return value.kwdefaults or None
                case "__annotations__" if "__wrapped__" in value.attrs:
                    return self.get_attr(value.attrs["__wrapped__"], name)
                case "__annotations__":
                    return value.attrs.setdefault(name, self.call(self.builtins["<annotations>"], [value], {}))
                case "__globals__":
                    return value.module.namespace
                case "__code__":
                    return self.call(self.builtins["<code>"], [value], {})
                case "__closure__":
                    return None
        return MISSING

    def _property_attr(self, value: Property, name: str) -> Value:
        match name:
            case "setter":
                return Builtin("setter", lambda machine, function: Property(value.getter, function, value.deleter))
            case "getter":
                return Builtin("getter", lambda machine, function: Property(function, value.setter, value.deleter))
            case "deleter":
                return Builtin("deleter", lambda machine, function: Property(value.getter, value.setter, function))
            case "__get__":
                return Builtin(
                    "__get__", lambda machine, receiver, owner=None: machine.call(value.getter, [receiver], {})
                )
            case "__set__":
                return Builtin(
                    "__set__", lambda machine, receiver, item: machine.call(value.setter, [receiver, item], {})
                )
            case "fget":
                return value.getter
            case "fset":
                return value.setter
            case "fdel":
                return value.deleter
        return value.attrs.get(name, MISSING)

    # writing

    def set_attr(self, value: Value, name: str, item: Value) -> None:
        self.touch(value)
        kind = value.__class__
        if kind in INSTANCE_TYPES:
            setter = value.cls.lookup("__setattr__")
            if setter is not MISSING:
                if setter.__class__ is Builtin:
                    setter.function(self, value, name, item)
                else:
                    self.call_method(value, setter, [name, item])
            else:
                self.set_plain(value, name, item)
        elif kind is Class:
            self._set_class_attr(value, name, item)
        elif kind is PythonModule:
            if name == "__class__" and isinstance(item, Class):
                value.cls = item
            else:
                value.namespace[name] = item
        elif kind is Function and name == "__defaults__":
            value.defaults[:] = item or ()
        elif kind is Function and name == "__name__":
            value.name = item
        elif kind is BoundMethod:
            self.fail("AttributeError", f"'method' object has no attribute '{name}'")
        elif kind is Unknown:
            return
        else:
            method = getattr(kind, "interpreted_set_attr", None)
            if method is not None:
                method(value, self, name, item)
                return
            attrs = getattr(value, "attrs", None) if kind.__module__.startswith("neurarch_schemas") else None
            if attrs is None:
                self.fail("AttributeError", f"'{self.type_of(value).name}' object has no attribute '{name}'")
            attrs[name] = item

    def _set_class_attr(self, cls: Class, name: str, item: Value) -> None:
        if name == "__name__":
            cls.name = item
        elif name in ("__qualname__", "__module__"):
            return
        else:
            cls.namespace[name] = item

    def set_plain(self, value: Value, name: str, item: Value) -> None:
        """``object.__setattr__``: data descriptors, then the instance dictionary."""
        found = value.cls.lookup(name)
        kind = found.__class__
        if kind is Property:
            if found.setter is None:
                self.fail("AttributeError", f"property '{name}' of '{value.cls.name}' object has no setter")
            self.call(found.setter, [value, item], {})
        elif kind is Instance and found.cls.lookup("__set__") is not MISSING:
            self.call_method(found, found.cls.lookup("__set__"), [value, item])
        elif name == "__class__" and isinstance(item, Class):
            value.cls = item
        elif name == "__dict__" and isinstance(item, dict):
            value.attrs = item
        else:
            value.attrs[name] = item

    def del_attr(self, value: Value, name: str) -> None:
        self.touch(value)
        kind = value.__class__
        if kind in INSTANCE_TYPES:
            deleter = value.cls.lookup("__delattr__")
            if deleter is not MISSING:
                self.call_method(value, deleter, [name])
                return
            found = value.cls.lookup(name)
            if found.__class__ is Property and found.deleter is not None:
                self.call(found.deleter, [value], {})
                return
            if name not in value.attrs:
                self.fail("AttributeError", f"'{value.cls.name}' object has no attribute '{name}'")
            del value.attrs[name]
        elif kind is Class or kind is PythonModule:
            if value.namespace.pop(name, MISSING) is MISSING:
                self.fail("AttributeError", name)
        elif kind is not Unknown:
            getattr(value, "attrs", {}).pop(name, None)


def _unbound(name: str) -> Any:
    """``str.upper`` as a function of its receiver."""

    def function(machine: Any, receiver: Value, *args: Value, **kwargs: Value) -> Value:
        return machine.call(NativeMethod(receiver, name), list(args), kwargs)

    return function


def _generator_attr(value: Generator, name: str) -> Value:
    if name in ("__next__", "send"):
        return Builtin(name, lambda machine, *args: machine.advance(value))
    if name == "close":
        return Builtin(name, lambda machine: None)
    if name == "__iter__":
        return Builtin(name, lambda machine: value)
    return MISSING
