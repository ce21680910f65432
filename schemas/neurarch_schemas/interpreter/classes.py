"""Class statements and the making of instances."""

from __future__ import annotations

import ast
from collections import OrderedDict, defaultdict
from typing import Any

from neurarch_schemas.interpreter.core import HOST_ERRORS, Core
from neurarch_schemas.interpreter.scopes import Frame
from neurarch_schemas.interpreter.values import (
    CARRIERS,
    MISSING,
    Builtin,
    CachedProperty,
    Class,
    ClassMethod,
    Function,
    Instance,
    Raised,
    StaticMethod,
    TypingForm,
    Unknown,
    UnknownTruth,
    Value,
)
from neurarch_schemas.interpreter.work import charge


class Classes(Core):
    def make_class(self, node: ast.ClassDef, frame: Frame) -> Value:
        bases: list[Value] = []
        for base in node.bases:
            if isinstance(base, ast.Starred):
                bases.extend(self.iterate(self.evaluate(base.value, frame)))
            else:
                bases.append(self.evaluate(base, frame))
        keywords: dict[str, Value] = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                keywords.update(self.evaluate(keyword.value, frame))
            else:
                keywords[keyword.arg] = self.evaluate(keyword.value, frame)
        qualname = node.name
        if frame.is_class:
            qualname = f"{frame.locals.get('__qualname__', '')}.{node.name}"
        elif frame.function is not None:
            qualname = f"{frame.function.qualname}.<locals>.{node.name}"
        namespace: dict[str, Value] = {"__module__": frame.module.name, "__qualname__": qualname}
        body = Frame(frame.module, frame, namespace)
        body.is_class = True
        body.line = node.lineno
        caller = self.frame
        self.frame = body
        try:
            self.execute(node.body, body)
        finally:
            self.frame = caller
        if node.body and isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant):
            namespace.setdefault("__doc__", node.body[0].value.value)
        return self.create_class(node.name, bases, namespace, frame, keywords, node, body)

    def create_class(
        self,
        name: str,
        bases: list[Value],
        namespace: dict[str, Value],
        frame: Frame,
        keywords: dict[str, Value],
        node: ast.ClassDef | None = None,
        cell: Frame | None = None,
    ) -> Value:
        metaclass = keywords.pop("metaclass", None)
        special = next((base for base in bases if hasattr(base, "interpreted_class")), None)
        if special is not None:
            return special.interpreted_class(self, name, bases, namespace, keywords)
        real: list[Class] = []
        unknown: Unknown | None = None
        for base in bases:
            if isinstance(base, Class):
                if base.name != "object":
                    real.append(base)
            elif type(base) is Unknown:
                unknown = unknown or base
            elif isinstance(base, TypingForm) or not hasattr(base, "cls"):
                host = self._generic_host(base) if isinstance(base, TypingForm) else None
                if host is not None:
                    real.append(host)
                elif not isinstance(base, TypingForm):
                    method = self.find_attr(base, "__mro_entries__")
                    if method is MISSING:
                        unknown = unknown or Unknown(f"{name} derives from something that is no class")
                continue
            else:
                method = self.find_attr(base, "__mro_entries__")
                if method is not MISSING:
                    real.extend(self.call(method, [tuple(bases)], {}))
                else:
                    unknown = unknown or Unknown(f"{name} derives from something that is no class")
        real = list(dict.fromkeys(real))
        if isinstance(metaclass, Class) and metaclass.lookup("__prepare__") is not MISSING:
            pass
        maker = self._metaclass_new(metaclass, real)
        if maker is not None and not keywords.get("<made>"):
            meta, function = maker
            result = self.call(function, [meta, name, tuple(bases), namespace], keywords)
            if isinstance(result, Class):
                result.metaclass = result.metaclass or meta
                result.node = node
                if cell is not None:
                    cell.class_cell = result
            return result
        return self.build_class(name, real, unknown, namespace, keywords, metaclass, node, cell)

    def _generic_host(self, form: TypingForm) -> Class | None:
        """The class behind ``Dict[str, int]`` or ``dict[str, int]`` as a base."""
        host = self.builtins["<typing classes>"].get(form.name) or self.builtins.get(form.name)
        return host if isinstance(host, Class) else None

    def _metaclass_new(self, metaclass: Value, bases: list[Class]) -> tuple[Class, Value] | None:
        meta = metaclass if isinstance(metaclass, Class) else next((b.metaclass for b in bases if b.metaclass), None)
        if meta is None:
            return None
        found = meta.lookup("__new__")
        if found is MISSING or found.__class__ is Builtin:
            return None
        return meta, found.function if isinstance(found, StaticMethod) else found

    def build_class(
        self,
        name: str,
        bases: list[Class],
        unknown: Unknown | None,
        namespace: dict[str, Value],
        keywords: dict[str, Value],
        metaclass: Value,
        node: ast.ClassDef | None,
        cell: Frame | None,
    ) -> Value:
        try:
            cls = Class(self, name, tuple(bases), namespace, str(namespace.get("__module__", "")))  # type: ignore[arg-type]  # self is the Machine
        except TypeError as error:
            raise self.convert(error) from None
        cls.qualname = str(namespace.get("__qualname__", name))
        cls.node = node
        cls.frame = cell
        if isinstance(metaclass, Class):
            cls.metaclass = metaclass
        if unknown is not None:
            cls.unknown_base = unknown
        if "__eq__" in namespace and "__hash__" not in namespace:
            namespace["__hash__"] = None
        slots = namespace.get("__class_getitem__")
        if slots.__class__ is Function:
            namespace["__class_getitem__"] = ClassMethod(slots)
        subclass_hook = namespace.get("__init_subclass__")
        if subclass_hook.__class__ is Function:
            namespace["__init_subclass__"] = ClassMethod(subclass_hook)
        if namespace.get("__new__").__class__ is Function:
            namespace["__new__"] = StaticMethod(namespace["__new__"])
        if cell is not None:
            cell.class_cell = cls
        for attribute, value in list(namespace.items()):
            if value.__class__ is Instance:
                hook = value.cls.lookup("__set_name__")
                if hook is not MISSING:
                    self.call_method(value, hook, [cls, attribute])
            elif value.__class__ is CachedProperty:
                value.name = attribute
        for base in cls.mro[1:]:
            if "__init_subclass__" in base.namespace:
                found = base.namespace["__init_subclass__"]
                function = found.function if isinstance(found, ClassMethod) else found
                self.call(function, [cls], keywords)
                break
        finish = next((base.layout for base in cls.mro[1:] if hasattr(base.layout, "finish_class")), None)
        if finish is not None:
            finish.finish_class(self, cls)
        self._initialize_class(cls, namespace, keywords)
        return cls

    def _initialize_class(self, cls: Class, namespace: dict[str, Value], keywords: dict[str, Value]) -> None:
        """The metaclass's own ``__init__``; one that fails leaves the class as far as it came."""
        found = MISSING if cls.metaclass is None else cls.metaclass.lookup("__init__")
        if found.__class__ is not Function:
            return
        try:
            self.call(found, [cls, cls.name, cls.bases, namespace], keywords)
        except (Raised, UnknownTruth):
            return

    def new_instance(self, cls: Class, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """``object.__new__``, or that of the host type the class derives from."""
        native = cls.native
        if native is None:
            return Instance(cls)
        carrier = CARRIERS.get(native)
        if carrier is None:
            return Instance(cls)
        try:
            if native in (dict, OrderedDict):
                value: Any = carrier()
                value.cls = cls
                value.attrs = {}
                if cls.lookup("__init__") is MISSING:
                    self.fill(value, args, kwargs)
                return value
            if native is list or native is set:
                value = carrier()
                value.cls, value.attrs = cls, {}
                if cls.lookup("__init__") is MISSING:
                    self.fill(value, args, kwargs)
                return value
            if native is defaultdict:
                value = carrier(self.factory(args[0]) if args else None)
            elif native is str and not args:
                value = carrier()
            elif native is tuple:
                value = carrier(tuple(self.iterate(args[0])) if args else ())
            else:
                for arg in args:
                    if arg.__class__ is Unknown:
                        return Unknown(arg.reason, data=True)
                value = carrier(*args[:1])
        except UnknownTruth as error:
            return error.unknown
        except HOST_ERRORS as error:
            raise self.convert(error) from None
        value.cls = cls
        value.attrs = {}
        return value

    def fill(self, value: Any, args: list[Value], kwargs: dict[str, Value]) -> None:
        """``dict.__init__`` and its like."""
        if isinstance(value, dict):
            own = value.cls.lookup("__setitem__") if hasattr(value, "cls") else MISSING
            pairs: list[tuple[Value, Value]] = []
            if args:
                source = args[0]
                if isinstance(source, dict):
                    pairs = list(dict.items(source))
                elif self.find_attr(source, "keys") is not MISSING:
                    pairs = [
                        (k, self.subscript(source, k))
                        for k in self.iterate(self.call(self.get_attr(source, "keys"), [], {}))
                    ]
                else:
                    for pair in self.iterate(source):
                        key, item = self.iterate(pair)
                        pairs.append((key, item))
            self.meter.work(len(pairs) >> 4)
            for key, item in [*pairs, *kwargs.items()]:
                charge(self.meter, key)
                if own.__class__ is Function and isinstance(value, OrderedDict):
                    self.call_method(value, own, [key, item])
                else:
                    dict.__setitem__(value, key, item) if not isinstance(
                        value, OrderedDict
                    ) else OrderedDict.__setitem__(value, key, item)
        elif isinstance(value, list) and args:
            value.extend(self.iterate(args[0]))
        elif isinstance(value, set) and args:
            value.update(self.iterate(args[0]))

    def factory(self, function: Value) -> Any:
        """A default factory the host's defaultdict can call."""
        if function is None:
            return None
        return lambda: self.call(function, [], {})


__all__ = ["Classes", "TypingForm"]
