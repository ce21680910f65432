"""collections and collections.abc."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from neurarch_schemas.interpreter.libraries.library import module
from neurarch_schemas.interpreter.values import (
    INSTANCE_TYPES,
    MISSING,
    BoundMethod,
    Builtin,
    Class,
    Function,
    NativeMethod,
    OrderedDictInstance,
    Partial,
    Property,
    PythonModule,
    StaticMethod,
    Value,
)

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine


def build(machine: Machine, name: str) -> PythonModule:
    if name == "collections.abc":
        return module(name, abstract_classes(machine))
    ordered = machine.host_classes[OrderedDict]
    ordered.construct = _ordered
    ordered.namespace["__init__"] = machine.builtins["dict"].namespace["__init__"]
    machine.host_classes[defaultdict].construct = _defaultdict
    machine.host_classes[deque].construct = lambda machine, values=(), maxlen=None: deque(
        machine.iterate(values), maxlen
    )
    return module(
        name,
        {
            "OrderedDict": ordered,
            "defaultdict": machine.host_classes[defaultdict],
            "deque": machine.host_classes[deque],
            "Counter": _counter,
            "ChainMap": lambda machine, *maps: {key: value for each in reversed(maps) for key, value in each.items()},
            "namedtuple": _namedtuple,
            "UserDict": machine.builtins["dict"],
            "UserList": machine.builtins["list"],
            "abc": machine.import_module("collections.abc"),
        },
    )


def _ordered(machine: Machine, *args: Value, **kwargs: Value) -> Value:
    result: Any = OrderedDictInstance()  # attributes may be set on it
    result.cls = machine.host_classes[OrderedDict]
    result.attrs = {}
    machine.fill(result, list(args), kwargs)
    return result


def _defaultdict(machine: Machine, factory: Value = None, *args: Value, **kwargs: Value) -> Value:
    made: defaultdict[Value, Value] = defaultdict(machine.factory(factory))
    machine.fill(made, list(args), kwargs)
    return made


def _counter(machine: Machine, values: Value = ()) -> Value:
    made: defaultdict[Value, Value] = defaultdict(int)
    made.update(values if isinstance(values, dict) else Counter(machine.iterate(values)))
    return made


def abstract_classes(machine: Machine) -> dict[str, Class]:
    """The ABCs of containers; membership is told by behaviour."""

    def has(*names: str) -> Callable[[Value], bool]:
        def check(value: Value) -> bool:
            if value.__class__ in INSTANCE_TYPES:
                if all(value.cls.lookup(name) is not MISSING for name in names):
                    return True
                return value.cls.native is not None and all(hasattr(value, name) for name in names)
            if value.__class__.__module__.startswith("neurarch_schemas"):
                return any(f"interpreted_{name.strip('_')}" in dir(value.__class__) for name in names) or (
                    isinstance(value, Iterator) and names == ("__iter__",)
                )
            return all(hasattr(value, name) for name in names)

        return check

    callables = (Function, Builtin, BoundMethod, NativeMethod, Class, Partial)
    checks: dict[str, Callable[[Any], bool]] = {
        "Iterable": has("__iter__"),
        "Iterator": has("__next__"),
        "Generator": has("__next__"),
        "Sized": has("__len__"),
        "Container": has("__contains__"),
        "Hashable": lambda value: not isinstance(value, list | dict | set),
        "Collection": has("__len__", "__iter__", "__contains__"),
        "Callable": lambda value: (
            isinstance(value, callables)
            or (value.__class__ in INSTANCE_TYPES and value.cls.lookup("__call__") is not MISSING)
        ),
        "Sequence": lambda value: isinstance(value, list | tuple | str | range | bytes | deque | Sequence),
        "MutableSequence": lambda value: isinstance(value, list | deque),
        "Mapping": lambda value: isinstance(value, dict | Mapping),
        "MutableMapping": lambda value: isinstance(value, dict),
        "Set": lambda value: isinstance(value, set | frozenset),
        "MutableSet": lambda value: isinstance(value, set),
        "ByteString": lambda value: isinstance(value, bytes),
        "KeysView": lambda value: False,
        "ValuesView": lambda value: False,
        "ItemsView": lambda value: False,
        "Awaitable": lambda value: False,
        "Coroutine": lambda value: False,
        "AsyncIterator": lambda value: False,
        "AsyncIterable": lambda value: False,
        "AsyncGenerator": lambda value: False,
    }
    known: dict[str, Class] = machine.state.setdefault("collections.abc", {})
    if not known:
        for name, check in checks.items():
            cls = known[name] = Class(machine, name, module="collections.abc")
            cls.instance_check = check
        for name, methods in (("Mapping", _MAPPING), ("MutableMapping", _MAPPING)):
            known[name].namespace.update({key: Builtin(key, function, binds=True) for key, function in methods.items()})
        machine.builtins["<typing classes>"].update(known)
    return known


_MAPPING: dict[str, Any] = {
    "get": lambda machine, self, key, default=None: (
        machine.subscript(self, key) if key in list(machine.iterate(self)) else default
    ),
    "keys": lambda machine, self: list(machine.iterate(self)),
    "values": lambda machine, self: [machine.subscript(self, key) for key in machine.iterate(self)],
    "items": lambda machine, self: [(key, machine.subscript(self, key)) for key in machine.iterate(self)],
    "__contains__": lambda machine, self, key: key in list(machine.iterate(self)),
}


def _namedtuple(
    machine: Machine,
    name: str,
    fields: Value,
    *,
    rename: Value = False,
    defaults: Value = None,
    module: Value = None,
) -> Value:
    names = fields.replace(",", " ").split() if isinstance(fields, str) else list(machine.iterate(fields))
    values = list(machine.iterate(defaults)) if defaults is not None else []
    return record_class(machine, name, names, dict(zip(names[len(names) - len(values) :], values, strict=True)))


def record_class(machine: Machine, name: str, names: list[str], defaults: dict[str, Value]) -> Class:
    """A tuple class with named fields."""
    cls = Class(machine, name, (machine.builtins["tuple"],), module=machine.frame.module.name)

    def new(machine: Machine, made: Class, *args: Value, **kwargs: Value) -> Value:
        values = dict(zip(names, args, strict=False))
        if len(args) > len(names):
            machine.fail("TypeError", f"{name}() takes {len(names)} arguments but {len(args)} were given")
        for key, value in kwargs.items():
            if key not in names or key in values:
                machine.fail("TypeError", f"{name}() got an unexpected argument '{key}'")
            values[key] = value
        items = []
        for key in names:
            if key not in values and key not in defaults:
                machine.fail("TypeError", f"{name}() missing the argument '{key}'")
            items.append(values[key] if key in values else defaults[key])
        return machine.new_instance(made, [tuple(items)], {})

    def replaced(machine: Machine, self: Value, **changes: Value) -> Value:
        return machine.call(self.cls, [changes.get(key, tuple.__getitem__(self, i)) for i, key in enumerate(names)], {})

    def getter(index: int) -> Builtin:
        return Builtin("getter", lambda machine, self: tuple.__getitem__(self, index))

    cls.namespace.update(
        {
            "__new__": StaticMethod(Builtin("__new__", new)),
            "__init__": Builtin("__init__", lambda machine, *args, **kwargs: None, binds=True),
            "_fields": tuple(names),
            "_field_defaults": dict(defaults),
            "_make": Builtin("_make", lambda machine, values: machine.call(cls, list(machine.iterate(values)), {})),
            "_asdict": Builtin(
                "_asdict", lambda machine, self: dict(zip(names, tuple.__iter__(self), strict=True)), binds=True
            ),
            "_replace": Builtin("_replace", replaced, binds=True),
            "__match_args__": tuple(names),
        }
    )
    for index, key in enumerate(names):
        cls.namespace[key] = Property(getter(index))
    return cls
