"""The functions of the ``builtins`` module."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from neurarch_schemas.interpreter.scopes import Frame, names_class
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
    StaticMethod,
    Unknown,
    UnknownTruth,
    Value,
    derived,
)
from neurarch_schemas.interpreter.work import charge

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine


def functions() -> dict[str, Value]:
    table = {
        "print": lambda machine, *args, **kwargs: None,
        "len": _len,
        "isinstance": lambda machine, value, classes: machine.is_instance(value, classes),
        "issubclass": lambda machine, cls, classes: machine.is_subclass(cls, classes),
        "getattr": _getattr,
        "hasattr": _hasattr,
        "setattr": _setattr,
        "delattr": lambda machine, value, name: machine.del_attr(value, name),
        "callable": _callable,
        "abs": lambda machine, value: abs(value),
        "round": _round,
        "divmod": lambda machine, a, b: (machine.binary(ast.FloorDiv, a, b), machine.binary(ast.Mod, a, b)),
        "pow": _pow,
        "sum": _sum,
        "min": _extreme("min"),
        "max": _extreme("max"),
        "any": _any,
        "all": _all,
        "sorted": lambda machine, values, **kwargs: machine.sort(values, **kwargs),
        "reversed": _reversed,
        "enumerate": _enumerate,
        "zip": _zip,
        "map": _map,
        "filter": _filter,
        "iter": _iter,
        "next": _next,
        "id": _id,
        "hash": _hash,
        "repr": _repr,
        "ascii": _repr,
        "format": _format,
        "chr": lambda machine, value: chr(value),
        "ord": lambda machine, value: ord(value),
        "bin": lambda machine, value: bin(value),
        "hex": lambda machine, value: hex(value),
        "oct": lambda machine, value: oct(value),
        "vars": _vars,
        "dir": _dir,
        "globals": _globals,
        "locals": _locals,
        "eval": _eval,
        "exec": _exec,
        "compile": lambda machine, *args, **kwargs: Unknown("compiled code"),
        "open": _open,
        "input": lambda machine, *args: Unknown("user input", data=True),
        "__import__": lambda machine, name, *args, **kwargs: machine.import_module(name),
        "__build_class__": lambda machine, *args: Unknown("__build_class__"),
        "exit": lambda machine, *args: machine.fail("SystemExit"),
        "quit": lambda machine, *args: machine.fail("SystemExit"),
        "breakpoint": lambda machine, *args: None,
    }
    return {name: Builtin(name, function) for name, function in table.items()}


def _open(machine: Machine, *args: Value, **kwargs: Value) -> Value:
    from neurarch_schemas.interpreter.libraries.files import open_file

    return open_file(machine, *args, **kwargs)


def _len(machine: Machine, value: Value) -> Value:
    kind = value.__class__
    if kind is Unknown:
        return derived(value)
    if kind in INSTANCE_TYPES:
        found = value.cls.lookup("__len__")
        if found is not MISSING:
            return machine.call_method(value, found, [])
    if kind is Class:
        found = value.metaclass.lookup("__len__") if value.metaclass is not None else MISSING
        if found is MISSING:
            machine.fail("TypeError", "object of type 'type' has no len()")
        return machine.call_method(value, found, [])
    method = getattr(kind, "interpreted_len", None)
    return len(value) if method is None else method(value, machine)


def _getattr(machine: Machine, value: Value, name: Value, default: Value = MISSING) -> Value:
    if type(name) is Unknown:
        return Unknown(name.reason)
    if default is MISSING:
        return machine.get_attr(value, name)
    try:
        found = machine.find_attr(value, name)
    except Raised as error:
        if machine.is_instance(error.value, machine.builtins["AttributeError"]) is True:
            return default
        raise
    return default if found is MISSING else found


def _hasattr(machine: Machine, value: Value, name: Value) -> Value:
    if type(value) is Unknown or type(name) is Unknown:
        return derived(value, name)
    try:
        found = machine.find_attr(value, name)
    except Raised as error:
        if machine.is_instance(error.value, machine.builtins["AttributeError"]) is True:
            return False
        raise
    if type(found) is Unknown and (
        (isinstance(value, PythonModule) and value.missing is not None)
        or getattr(getattr(value, "cls", None), "unknown_base", None) is not None
    ):
        return derived(found)
    return found is not MISSING


def _setattr(machine: Machine, value: Value, name: Value, item: Value) -> None:
    if type(name) is Unknown:
        machine.taint(f"an attribute set under an unknown name: {name.reason}")
        return
    machine.set_attr(value, name, item)


def _callable(machine: Machine, value: Value) -> Value:
    if type(value) is Unknown:
        return derived(value)
    if isinstance(value, Function | Builtin | BoundMethod | NativeMethod | Class | Partial | StaticMethod):
        return True
    if value.__class__ in INSTANCE_TYPES:
        return value.cls.lookup("__call__") is not MISSING
    return hasattr(value.__class__, "interpreted_call")


def _round(machine: Machine, value: Value, digits: Value = None) -> Value:
    if type(value) is Unknown or type(digits) is Unknown:
        return derived(value, digits)
    item = getattr(value, "interpreted_item", None)
    if item is not None:
        value = item(machine)
    if value.__class__ is Instance:
        return value._required("__round__", *([] if digits is None else [digits]))
    return round(value) if digits is None else round(value, digits)


def _pow(machine: Machine, base: Value, exponent: Value, modulus: Value = None) -> Value:
    if modulus is None:
        return machine.binary(ast.Pow, base, exponent)
    return pow(base, exponent, modulus)


def _sum(machine: Machine, values: Value, start: Value = 0) -> Value:
    total = start
    for value in machine.iterate(values):
        total = machine.binary(ast.Add, total, value)
    return total


def _extreme(name: str) -> Any:
    def function(machine: Machine, *args: Value, key: Value = None, default: Value = MISSING) -> Value:
        items = list(machine.iterate(args[0])) if len(args) == 1 else list(args)
        if not items:
            if default is not MISSING:
                return default
            machine.fail("ValueError", f"{name}() iterable argument is empty")
        operator = ast.Lt if name == "min" else ast.Gt
        best = items[0]
        rank = best if key is None else machine.call(key, [best], {})
        for item in items[1:]:
            other = item if key is None else machine.call(key, [item], {})
            if machine.truth(machine.compare(operator, other, rank)):
                best, rank = item, other
        if type(best) is Unknown:
            return derived(best)
        return best

    return function


def _any(machine: Machine, values: Value) -> Value:
    doubt: Unknown | None = None
    for value in machine.iterate(values):
        try:
            if machine.truth(value):
                return True
        except UnknownTruth as error:
            doubt = error.unknown
    return False if doubt is None else derived(doubt)


def _all(machine: Machine, values: Value) -> Value:
    doubt: Unknown | None = None
    for value in machine.iterate(values):
        try:
            if not machine.truth(value):
                return False
        except UnknownTruth as error:
            doubt = error.unknown
    return True if doubt is None else derived(doubt)


def _reversed(machine: Machine, values: Value) -> Value:
    if values.__class__ is Unknown:
        return derived(values)
    if values.__class__ in INSTANCE_TYPES:
        found = values.cls.lookup("__reversed__")
        if found is not MISSING:
            return machine.call_method(values, found, [])
    if isinstance(values, list | tuple | range | str | dict):
        return reversed(values)
    return iter(list(machine.iterate(values))[::-1])


def _enumerate(machine: Machine, iterable: Value, start: Value = 0) -> Value:
    if iterable.__class__ is Unknown or start.__class__ is Unknown:
        return Unknown((iterable if iterable.__class__ is Unknown else start).reason)
    return enumerate(machine.iterate(iterable), start)


def _zip(machine: Machine, *iterables: Value, strict: Value = False) -> Value:
    for each in iterables:
        if each.__class__ is Unknown:
            return Unknown(each.reason)
    return zip(*(machine.iterate(each) for each in iterables), strict=bool(strict))


def _map(machine: Machine, function: Value, *iterables: Value) -> Value:
    for each in iterables:
        if each.__class__ is Unknown:
            return Unknown(each.reason)
    return map(machine.host_callable(function), *(machine.iterate(each) for each in iterables))


def _filter(machine: Machine, function: Value, iterable: Value) -> Value:
    if iterable.__class__ is Unknown:
        return Unknown(iterable.reason)
    if function is None:
        return filter(machine.truth, machine.iterate(iterable))
    return filter(lambda item: machine.truth(machine.call(function, [item], {})), machine.iterate(iterable))


def _iter(machine: Machine, value: Value, sentinel: Value = MISSING) -> Value:
    if sentinel is not MISSING:
        return machine.iterate(iter(machine.host_callable(value), sentinel))
    if value.__class__ is Unknown:
        return Unknown(value.reason)
    return machine.iterate(value)


def _next(machine: Machine, iterator: Value, default: Value = MISSING) -> Value:
    if iterator.__class__ is Unknown:
        return Unknown(iterator.reason)
    try:
        if iterator.__class__ in INSTANCE_TYPES:
            return machine.call_method(iterator, iterator.cls.lookup("__next__"), [])
        if not isinstance(iterator, Iterator):
            machine.fail("TypeError", f"'{machine.type_of(iterator).name}' object is not an iterator")
        return next(iterator)
    except StopIteration:
        if default is MISSING:
            machine.fail("StopIteration")
        return default
    except Raised as error:
        if default is not MISSING and error.value.cls.name == "StopIteration":
            return default
        raise


def _repr(machine: Machine, value: Value) -> Value:
    if type(value) is Unknown:
        return derived(value)
    charge(machine.meter, value)
    return repr(value)


def _hash(machine: Machine, value: Value) -> Value:
    charge(machine.meter, value)
    return hash(value)


def _format(machine: Machine, value: Value, spec: Value = "") -> Value:
    if type(value) is Unknown or type(spec) is Unknown:
        return derived(value, spec)
    if sum(character.isdecimal() for character in spec) > 4:
        machine.fail("ValueError", "format width is too large")
    charge(machine.meter, value)
    return format(value, spec)


def _vars(machine: Machine, value: Value = MISSING) -> Value:
    if value is MISSING:
        return _locals(machine)
    return machine.get_attr(value, "__dict__")


def _dir(machine: Machine, value: Value = MISSING) -> Value:
    if value is MISSING:
        return sorted(machine.frame.locals)
    if isinstance(value, PythonModule):
        return sorted(machine.public_names(value))
    names: set[str] = set(getattr(value, "attrs", {}))
    cls = value if isinstance(value, Class) else machine.type_of(value)
    for base in cls.mro:
        names.update(base.namespace)
    return sorted(names)


def _id(machine: Machine, value: Value) -> int:
    machine.doubts += 1
    return id(value)


def _globals(machine: Machine) -> Value:
    namespace = machine.frame.module.namespace
    return GlobalsView(machine.frame.module, namespace)


class GlobalsView(dict):  # type: ignore[type-arg]  # values of the program
    """``globals()``: reads resolve lazy imports, writes reach the module."""

    def __init__(self, module: PythonModule, namespace: dict[str, Value]) -> None:
        super().__init__(namespace)
        self.module = module
        self.namespace = namespace

    def interpreted_getitem(self, machine: Machine, key: Value) -> Value:
        found = machine.load_global(self.module, key)
        if found is MISSING:
            machine.fail("KeyError", str(key))
        return found

    def interpreted_setitem(self, machine: Machine, key: Value, item: Value) -> None:
        self.namespace[key] = item

    def interpreted_attr(self, machine: Machine, name: str) -> Value:
        if name == "get":
            return Builtin("get", self._get)
        if name == "update":
            return Builtin("update", lambda machine, other=(), **kwargs: self.namespace.update(other, **kwargs))
        if name in ("items", "values", "keys", "pop", "setdefault", "copy"):
            for key in list(self.namespace):
                machine.resolve(self.namespace[key], self.namespace, key)
            return NativeMethod(self.namespace, name)
        return MISSING

    def _get(self, machine: Machine, key: Value, default: Value = None) -> Value:
        found = machine.load_global(self.module, key)
        return default if found is MISSING else found


def _locals(machine: Machine) -> Value:
    frame = machine.frame
    if frame.parent is None:
        return _globals(machine)
    return frame_locals(frame)


def frame_locals(frame: Frame) -> dict[str, Value]:
    """The local variables of a call, with ``__class__`` where the function speaks of it or of ``super``."""
    found = {name: value for name, value in frame.locals.items() if not name.startswith("<")}
    if frame.function is not None and names_class(frame.function.node):
        scope: Frame | None = frame
        while scope is not None and scope.class_cell is None:
            scope = scope.parent
        if scope is not None:
            found["__class__"] = scope.class_cell
    return found


def _eval(machine: Machine, source: Value, namespace: Value = None, variables: Value = None) -> Value:
    """An expression in text, evaluated by this interpreter like any other."""
    if type(source) is not str:
        return Unknown("eval of a value that is not text")
    if len(source) > 10_000:
        return Unknown("eval of a long text")
    try:
        tree = ast.parse(source.strip(), mode="eval")
    except SyntaxError as error:
        raise machine.raised("SyntaxError", str(error.msg)) from None
    frame = machine.frame
    if namespace is not None and not isinstance(namespace, GlobalsView):
        from neurarch_schemas.interpreter.scopes import Frame

        inner = Frame(frame.module, frame, {**namespace, **(variables or {})})
        return machine.evaluate(tree.body, inner)
    return machine.evaluate(tree.body, frame)


def _exec(machine: Machine, source: Value, *args: Value) -> Value:
    if type(source) is not str:
        machine.taint("exec of a value that is not text")
        return None
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        raise machine.raised("SyntaxError", str(error.msg)) from None
    namespace = args[0] if args and isinstance(args[0], dict) and not isinstance(args[0], GlobalsView) else None
    if namespace is None:
        frame = machine.frame
        outer = frame.global_names
        stated = frozenset(name for each in tree.body if isinstance(each, ast.Global) for name in each.names)
        frame.global_names = (outer or frozenset()) | stated or None
        try:
            machine.execute(tree.body, frame)
        finally:
            frame.global_names = outer
        return None
    from neurarch_schemas.interpreter.scopes import Frame

    machine.execute(tree.body, Frame(machine.frame.module, None, namespace))
    return None


__all__ = ["Generator", "functions"]
