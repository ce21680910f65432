"""The classes and functions of the ``builtins`` module."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from typing import TYPE_CHECKING, Any

from neurarch_schemas.interpreter.builtin_functions import functions
from neurarch_schemas.interpreter.values import (
    MISSING,
    BoundMethod,
    Builtin,
    Class,
    ClassMethod,
    Function,
    Generator,
    Instance,
    Partial,
    Property,
    PythonModule,
    StaticMethod,
    Super,
    TypingForm,
    Unknown,
    UnknownTruth,
    Value,
)
from neurarch_schemas.interpreter.work import charge

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine

EXCEPTIONS = {
    "BaseException": "",
    "Exception": "BaseException",
    "KeyboardInterrupt": "BaseException",
    "SystemExit": "BaseException",
    "GeneratorExit": "BaseException",
    "ArithmeticError": "Exception",
    "OverflowError": "ArithmeticError",
    "ZeroDivisionError": "ArithmeticError",
    "FloatingPointError": "ArithmeticError",
    "AssertionError": "Exception",
    "AttributeError": "Exception",
    "BufferError": "Exception",
    "EOFError": "Exception",
    "ImportError": "Exception",
    "ModuleNotFoundError": "ImportError",
    "LookupError": "Exception",
    "IndexError": "LookupError",
    "KeyError": "LookupError",
    "MemoryError": "Exception",
    "NameError": "Exception",
    "UnboundLocalError": "NameError",
    "OSError": "Exception",
    "FileNotFoundError": "OSError",
    "FileExistsError": "OSError",
    "PermissionError": "OSError",
    "ConnectionError": "OSError",
    "TimeoutError": "OSError",
    "NotADirectoryError": "OSError",
    "ReferenceError": "Exception",
    "RuntimeError": "Exception",
    "NotImplementedError": "RuntimeError",
    "RecursionError": "RuntimeError",
    "StopIteration": "Exception",
    "StopAsyncIteration": "Exception",
    "SyntaxError": "Exception",
    "SystemError": "Exception",
    "TypeError": "Exception",
    "ValueError": "Exception",
    "UnicodeError": "ValueError",
    "UnicodeDecodeError": "UnicodeError",
    "UnicodeEncodeError": "UnicodeError",
    "Warning": "Exception",
    "UserWarning": "Warning",
    "DeprecationWarning": "Warning",
    "FutureWarning": "Warning",
    "PendingDeprecationWarning": "Warning",
    "RuntimeWarning": "Warning",
    "SyntaxWarning": "Warning",
    "ImportWarning": "Warning",
    "ResourceWarning": "Warning",
    "BytesWarning": "Warning",
    "UnicodeWarning": "Warning",
    "ExceptionGroup": "Exception",
}


def install(machine: Machine) -> None:
    """Fill ``machine.builtins`` and ``machine.host_classes``."""
    builtins = machine.builtins
    object_class = Class(machine, "object")
    builtins["object"] = object_class
    machine.host_classes[object] = object_class
    builtins["<object>"] = _object_methods()
    object_class.construct = lambda machine: Instance(object_class)

    def add(name: str, host: type, construct: Any, bases: tuple[Class, ...] = ()) -> Class:
        cls = Class(machine, name, bases, native=host, construct=construct)
        cls.namespace["__new__"] = StaticMethod(
            Builtin("__new__", lambda machine, cls, *args, **kwargs: machine.new_instance(cls, list(args), kwargs))
        )
        builtins[name] = cls
        machine.host_classes[host] = cls
        return cls

    integer = add("int", int, _int)
    add("bool", bool, _bool, (integer,))
    add("float", float, _float)
    add("complex", complex, lambda machine, *args: complex(*args))
    add("str", str, _str)
    add("bytes", bytes, _bytes)
    add("bytearray", bytearray, lambda machine, *args: Unknown("bytearray", data=True))
    add("memoryview", memoryview, lambda machine, *args: Unknown("memoryview", data=True))
    collections: tuple[tuple[str, type], ...] = (
        ("list", list),
        ("tuple", tuple),
        ("set", set),
        ("frozenset", frozenset),
    )
    for name, host in collections:
        add(name, host, _collector(host))
    dictionary = add("dict", dict, _dict)
    for cls in (builtins["list"], builtins["set"], dictionary):
        cls.namespace["__init__"] = Builtin("__init__", _fill, binds=True)
    dictionary.namespace["fromkeys"] = ClassMethod(
        Builtin(
            "fromkeys", lambda machine, cls, keys, value=None: dict.fromkeys(machine.iterate(keys), value), binds=True
        )
    )
    builtins["str"].namespace["maketrans"] = StaticMethod(
        Builtin("maketrans", lambda machine, *args: str.maketrans(*args))
    )
    integer.namespace["from_bytes"] = StaticMethod(
        Builtin("from_bytes", lambda machine, *a, **k: int.from_bytes(*a, **k))
    )
    builtins["float"].namespace["fromhex"] = StaticMethod(Builtin("fromhex", lambda machine, text: float.fromhex(text)))
    add("range", range, lambda machine, *args: range(*(_index(arg) for arg in args)))
    add("slice", slice, lambda machine, *args: slice(*args))
    none = add("NoneType", type(None), lambda machine: None)
    del builtins["NoneType"]
    none.native = None
    mappings: tuple[tuple[type, str], ...] = (
        (OrderedDict, "OrderedDict"),
        (defaultdict, "defaultdict"),
        (deque, "deque"),
    )
    for host, name in mappings:
        cls = add(name, host, None, (dictionary,) if host is not deque else ())
        del builtins[name]
        cls.module = "collections"
    machine.host_classes[type(NotImplemented)] = Class(machine, "NotImplementedType")
    machine.host_classes[type(...)] = Class(machine, "ellipsis")

    function_class = Class(machine, "function", module="types")
    method_class = Class(machine, "method", module="types")
    builtin_class = Class(machine, "builtin_function_or_method", module="types")
    machine.host_classes[Function] = function_class
    machine.host_classes[Builtin] = builtin_class
    machine.host_classes[BoundMethod] = method_class
    function_class.construct = _copy_function
    method_class.construct = lambda machine, function, receiver: BoundMethod(function, receiver)
    builtin_class.construct = lambda machine, *args: Unknown("a function of the host")
    machine.host_classes[Generator] = Class(machine, "generator", module="types")
    machine.host_classes[PythonModule] = Class(
        machine, "module", module="types", construct=lambda machine, name, doc=None: PythonModule(name)
    )
    machine.host_classes[PythonModule].namespace["__init__"] = Builtin("__init__", _module_init, binds=True)
    machine.host_classes[TypingForm] = Class(machine, "GenericAlias", module="types")
    machine.host_classes[Unknown] = Class(machine, "unknown")
    machine.host_classes[Partial] = Class(machine, "partial", module="functools", construct=_partial)

    type_class = Class(machine, "type", construct=_type)
    type_class.namespace["__new__"] = StaticMethod(Builtin("__new__", _type_new))
    type_class.namespace["__init__"] = Builtin("__init__", lambda machine, *args, **kwargs: None, binds=True)
    type_class.namespace["__call__"] = Builtin(
        "__call__", lambda machine, cls, /, *args, **kwargs: machine.instantiate(cls, list(args), kwargs), binds=True
    )
    machine.host_classes[Class] = type_class
    builtins["type"] = type_class

    for name, host, construct in (
        ("property", Property, lambda machine, fget=None, fset=None, fdel=None, doc=None: Property(fget, fset, fdel)),
        ("classmethod", ClassMethod, lambda machine, function: ClassMethod(function)),
        ("staticmethod", StaticMethod, lambda machine, function: StaticMethod(function)),
    ):
        cls = Class(machine, name, construct=construct)
        cls.namespace["__init__"] = Builtin("__init__", _descriptor_init, binds=True)
        builtins[name] = cls
        machine.host_classes[host] = cls
    builtins["super"] = Class(machine, "super", construct=_super)
    machine.host_classes[Super] = builtins["super"]

    for name, base in EXCEPTIONS.items():
        cls = Class(machine, name, (builtins[base],) if base else ())
        builtins[name] = cls
        if not base:
            cls.namespace["__init__"] = Builtin("__init__", _exception_init, binds=True)
            cls.namespace["__str__"] = Builtin("__str__", _exception_text, binds=True)
            cls.namespace["with_traceback"] = Builtin("with_traceback", lambda machine, self, tb: self, binds=True)
            cls.namespace["add_note"] = Builtin("add_note", lambda machine, self, note: None, binds=True)
            cls.namespace["__traceback__"] = None
            cls.namespace["__cause__"] = None
    builtins["EnvironmentError"] = builtins["IOError"] = builtins["OSError"]
    builtins["<typing classes>"] = {}
    builtins["<code>"] = Builtin("code", _code)
    builtins["<annotations>"] = Builtin("annotations", _annotations)
    builtins.update(functions())
    builtins["NotImplemented"] = NotImplemented
    builtins["Ellipsis"] = ...
    builtins["__debug__"] = True


def _object_methods() -> dict[str, Value]:
    def set_attribute(machine: Machine, self: Value, name: str, value: Value) -> None:
        if self.__class__ is Instance or hasattr(self, "attrs"):
            machine.set_plain(self, name, value)

    def get_attribute(machine: Machine, self: Value, name: str) -> Value:
        found = (
            machine.plain_attr(self, name)
            if hasattr(self, "cls") and hasattr(self, "attrs")
            else machine.find_attr(self, name)
        )
        if found is MISSING:
            error = machine.raised("AttributeError", f"'{machine.type_of(self).name}' object has no attribute '{name}'")
            error.value.attrs["name"] = name
            raise error
        return found

    def delete_attribute(machine: Machine, self: Value, name: str) -> None:
        self.attrs.pop(name, None)

    def new(machine: Machine, cls: Class, *args: Value, **kwargs: Value) -> Value:
        return machine.new_instance(cls, list(args), kwargs)

    methods = {
        "__init__": Builtin("__init__", lambda machine, self, *args, **kwargs: None, binds=True),
        "__new__": Builtin("__new__", new),
        "__setattr__": Builtin("__setattr__", set_attribute, binds=True),
        "__getattribute__": Builtin("__getattribute__", get_attribute, binds=True),
        "__delattr__": Builtin("__delattr__", delete_attribute, binds=True),
        "__init_subclass__": Builtin("__init_subclass__", lambda machine, *args, **kwargs: None),
        "__subclasshook__": Builtin("__subclasshook__", lambda machine, *args: NotImplemented),
        "__eq__": Builtin("__eq__", lambda machine, self, other: self is other or NotImplemented, binds=True),
        "__ne__": Builtin("__ne__", lambda machine, self, other: self is not other, binds=True),
        "__hash__": Builtin("__hash__", lambda machine, self: id(self) >> 4, binds=True),
        "__repr__": Builtin("__repr__", lambda machine, self: f"<{self.cls.name} object>", binds=True),
        "__str__": Builtin("__str__", lambda machine, self: repr(self), binds=True),
        "__dir__": Builtin("__dir__", lambda machine, self: sorted(getattr(self, "attrs", {})), binds=True),
        "__reduce_ex__": Builtin("__reduce_ex__", lambda machine, self, protocol: Unknown("__reduce_ex__"), binds=True),
        "__sizeof__": Builtin("__sizeof__", lambda machine, self: 0, binds=True),
        "__format__": Builtin("__format__", lambda machine, self, spec: format(str(self), spec), binds=True),
    }
    return dict(methods)


def _module_init(machine: Machine, self: Instance, name: Value, doc: Value = None) -> None:
    """Of classes that derive from the module type."""
    self.attrs["__name__"] = name


def _descriptor_init(machine: Machine, self: Instance, fget: Value = None, *args: Value, **kwargs: Value) -> None:
    """Of classes that derive from property, classmethod or staticmethod."""
    self.attrs.update(fget=fget, __func__=fget, __wrapped__=fget)


def _index(value: Value) -> int:
    if type(value) is Unknown:
        raise UnknownTruth(value)
    if isinstance(value, float):
        raise TypeError("'float' object cannot be interpreted as an integer")
    return value.__index__()  # type: ignore[no-any-return]


def _int(machine: Machine, value: Value = 0, base: Value = None) -> Value:
    if type(value) is Unknown:
        return Unknown(value.reason, data=True)
    item = getattr(value, "interpreted_item", None)
    if item is not None:
        value = item(machine)
        if type(value) is Unknown:
            return value
    if isinstance(value, str) and len(value) > 4300:
        machine.fail("ValueError", "Exceeds the limit for integer string conversion")
    return int(value) if base is None else int(value, base)


def _float(machine: Machine, value: Value = 0.0) -> Value:
    if type(value) is Unknown:
        return Unknown(value.reason, data=True)
    item = getattr(value, "interpreted_item", None)
    if item is not None:
        value = item(machine)
        if type(value) is Unknown:
            return value
    return float(value)


def _bool(machine: Machine, value: Value = False) -> Value:
    if type(value) is Unknown:
        return Unknown(value.reason, data=True)
    return machine.truth(value)


def _str(machine: Machine, value: Value = "", *_: Value, **__: Value) -> Value:
    if type(value) is Unknown:
        return Unknown(value.reason, data=True)
    charge(machine.meter, value)
    text = str(value)
    machine.meter.size(len(text), "a string", 50)
    return text


def _bytes(machine: Machine, value: Value = b"", *args: Value) -> Value:
    if isinstance(value, int):
        machine.meter.size(value, "bytes", 50)
    return bytes(value, *args) if isinstance(value, str | bytes | int | list) else Unknown("bytes", data=True)


def _collector(host: type) -> Any:
    def construct(machine: Machine, values: Value = (), **kwargs: Value) -> Value:
        if type(values) is Unknown:
            return Unknown(values.reason, data=values.data)
        items = []
        size = machine.meter.size
        for item in machine.iterate(values):
            items.append(item)
            if len(items) & 1023 == 0:
                size(len(items))
        if host in (set, frozenset):
            charge(machine.meter, items)
        return host(items)

    return construct


def _dict(machine: Machine, *args: Value, **kwargs: Value) -> Value:
    if args and type(args[0]) is Unknown:
        return Unknown(args[0].reason)
    result: dict[Value, Value] = {}
    machine.fill(result, list(args), kwargs)
    return result


def _fill(machine: Machine, self: Value, *args: Value, **kwargs: Value) -> None:
    if args and type(args[0]) is Unknown:
        machine.taint(f"a container filled from an unknown value: {args[0].reason}")
        return
    machine.fill(self, list(args), kwargs)


def _partial(machine: Machine, function: Value, *args: Value, **kwargs: Value) -> Value:
    return Partial(function, list(args), kwargs)


def _type(
    machine: Machine, value: Value, bases: Value = MISSING, namespace: Value = MISSING, /, **kwargs: Value
) -> Value:
    if bases is MISSING:
        return Unknown(value.reason) if type(value) is Unknown else machine.type_of(value)
    return machine.create_class(value, list(bases), dict(namespace), machine.frame, kwargs)


def _type_new(
    machine: Machine, meta: Class, name: Value, bases: Value = (), namespace: Value = None, /, **kwargs: Value
) -> Value:
    real = [base for base in bases if isinstance(base, Class) and base.name != "object"]
    unknown = next((base for base in bases if type(base) is Unknown), None)
    return machine.build_class(name, real, unknown, dict(namespace or {}), kwargs, meta, None, None)


def _super(machine: Machine, cls: Value = None, receiver: Value = MISSING) -> Value:
    if cls is None:
        frame = machine.frame
        scope: Any = frame
        while scope is not None and scope.function is None:
            scope = scope.parent
        if scope is None:
            machine.fail("RuntimeError", "super(): no arguments")
        function_frame = scope
        while scope is not None:
            if scope.class_cell is not None:
                cls = scope.class_cell
                break
            scope = scope.parent
        if cls is None:
            cls = function_frame.locals.get("__class__")
        node = function_frame.function.node
        names = [*node.args.posonlyargs, *node.args.args]
        if names:
            receiver = function_frame.locals.get(names[0].arg, MISSING)
        elif node.args.vararg is not None:
            receiver = function_frame.locals.get(node.args.vararg.arg, (MISSING,))[0]
        if cls is None or receiver is MISSING:
            machine.fail("RuntimeError", "super(): no arguments")
    if type(cls) is Unknown or type(receiver) is Unknown:
        return Unknown("super() of an unknown class")
    if isinstance(receiver, Class) and cls not in receiver.mro and not receiver.metaclass and not receiver.unknown_base:
        machine.fail("TypeError", "super(type, obj): obj must be an instance or subtype of type")
    if receiver is MISSING:
        return Unknown("an unbound super object")
    return Super(cls, receiver)


def _exception_init(machine: Machine, self: Instance, *args: Value, **kwargs: Value) -> None:
    self.attrs["args"] = args


def _exception_text(machine: Machine, self: Instance) -> str:
    args = self.attrs.get("args", ())
    charge(machine.meter, args)
    return "" if not args else str(args[0]) if len(args) == 1 else str(args)


def _copy_function(
    machine: Machine, code: Value, *args: Value, name: Value = None, argdefs: Value = None, **options: Value
) -> Value:
    """``types.FunctionType(code, globals, ...)``: the same body under another name."""
    source = code.attrs.get("<function>") if isinstance(code, Instance) else None
    if not isinstance(source, Function):
        return Unknown("a function made from code")
    name = name if name is not None else args[1] if len(args) > 1 else source.name
    defaults = argdefs if argdefs is not None else args[2] if len(args) > 2 else None
    return Function(
        machine,
        source.node,
        source.frame,
        name,
        name,
        list(defaults or ()),
        dict(source.kwdefaults),
        source.is_generator,
    )


def _annotations(machine: Machine, function: Function) -> Value:
    from neurarch_schemas.interpreter.libraries.typing_forms import AnnotationsView, resolve_annotation

    return {name: resolve_annotation(machine, each) for name, each in AnnotationsView(machine, [function]).items()}


def _code(machine: Machine, function: Function) -> Value:
    arguments = function.node.args
    names = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
    code = Instance(Class(machine, "code", module="types"))
    code.attrs.update(
        **{"<function>": function},
        co_argcount=len(names),
        co_kwonlyargcount=len(arguments.kwonlyargs),
        co_varnames=(*names, *(each.arg for each in arguments.kwonlyargs)),
        co_name=function.name,
        co_filename=function.module.file or "",
        co_firstlineno=function.node.lineno,
    )
    return code
