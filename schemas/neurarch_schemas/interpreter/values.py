"""Values of interpreted programs.

Numbers, strings and containers are Python's own. Everything that has behaviour (classes, instances, functions) is one
of the classes below, so that nothing of the host can be reached from interpreted code: attributes are looked up by
``attributes.py`` alone, never with ``getattr`` on a host object under a name from the source.

``Instance`` and ``Unknown`` define the host's special methods, so the host's own operators and builtins (sorted, sum,
dict lookups) work on them and end in interpreted methods again.
"""

from __future__ import annotations

import ast
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine
    from neurarch_schemas.interpreter.scopes import Frame

Value: TypeAlias = Any
"""Any value of an interpreted program."""


class Raised(Exception):
    """An exception of the interpreted program on its way up; ``value`` is its instance."""

    def __init__(self, value: Value, where: str = "") -> None:
        super().__init__()
        self.value = value
        self.where = where


class UnknownTruth(Exception):
    """Host code needed to decide on an unknown value."""

    def __init__(self, unknown: Unknown) -> None:
        super().__init__(unknown.reason)
        self.unknown = unknown


class Unknown:
    """A value that cannot be told, with the reason.

    ``data`` is True when it can only be a number, string, tensor or the like: never a module or a parameter.
    """

    __slots__ = ("data", "reason")

    def __init__(self, reason: str, data: bool = False) -> None:
        self.reason = reason
        self.data = data

    def __repr__(self) -> str:
        return f"<unknown: {self.reason}>"

    def __bool__(self) -> bool:
        raise UnknownTruth(self)

    def _derived(self, *_: Any) -> Unknown:
        return self if self.data else Unknown(self.reason, data=True)

    def _refuse(self, *_: Any) -> Any:
        raise UnknownTruth(self)

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _derived
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = __and__ = __rand__ = _derived
    __or__ = __ror__ = __xor__ = __rxor__ = __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = _derived
    __matmul__ = __rmatmul__ = __neg__ = __pos__ = __abs__ = __invert__ = _derived
    __lt__ = __le__ = __gt__ = __ge__ = _derived
    __eq__ = __ne__ = _derived  # type: ignore[assignment]  # an unknown comparison is unknown, not a bool
    __index__ = __int__ = __float__ = __len__ = __iter__ = __contains__ = _refuse
    __hash__ = object.__hash__


def derived(*values: Value) -> Unknown:
    """What an operation on unknown operands gives."""
    for value in values:
        if type(value) is Unknown:
            return value if value.data else Unknown(value.reason, data=True)
    return Unknown("an unknown value", data=True)


class Class:
    """A class, the program's own or one of ours. ``native`` is the host type whose values its instances carry."""

    __slots__ = (
        "annotations",
        "attrs",
        "bases",
        "construct",
        "frame",
        "getter",
        "instance_check",
        "layout",
        "machine",
        "metaclass",
        "module",
        "mro",
        "name",
        "namespace",
        "namespaces",
        "native",
        "node",
        "qualname",
        "unknown_base",
    )

    def __init__(
        self,
        machine: Machine,
        name: str,
        bases: tuple[Class, ...] = (),
        namespace: dict[str, Value] | None = None,
        module: str = "builtins",
        native: type | None = None,
        construct: Callable[..., Value] | None = None,
    ) -> None:
        self.machine = machine
        self.name = self.qualname = name
        self.bases = bases
        self.namespace: dict[str, Value] = {} if namespace is None else namespace
        self.module = module
        self.node: ast.ClassDef | None = None
        self.frame: Frame | None = None
        self.annotations: dict[str, Any] = {}
        self.metaclass: Class | None = next((base.metaclass for base in bases if base.metaclass is not None), None)
        self.unknown_base: Unknown | None = next((b.unknown_base for b in bases if b.unknown_base is not None), None)
        self.native: type | None = native or next((base.native for base in bases if base.native is not None), None)
        self.construct: Callable[..., Value] | None = construct
        self.instance_check: Callable[[Value], bool] | None = None
        self.layout: Any = next((base.layout for base in bases if base.layout is not None), None)
        """What a library keeps on a class (dataclass fields, enum members, ...)."""
        self.mro: tuple[Class, ...] = (self, *linearize(bases))
        self.namespaces = tuple(base.namespace for base in self.mro)
        self.getter: Value = self.lookup("__getattribute__")
        """A ``__getattribute__`` of the program's own, or MISSING."""

    def lookup(self, name: str) -> Value:
        """The attribute found along the MRO, or MISSING."""
        for namespace in self.namespaces:
            if name in namespace:
                return namespace[name]
        return MISSING

    def owner(self, name: str) -> Class | None:
        return next((base for base in self.mro if name in base.namespace), None)

    def __repr__(self) -> str:
        return f"<class '{self.module}.{self.qualname}'>"

    def __or__(self, other: Value) -> Value:
        return TypingForm("Union", (self, other))

    def __ror__(self, other: Value) -> Value:
        return TypingForm("Union", (other, self))

    def __call__(self, *args: Value, **kwargs: Value) -> Value:
        return self.machine.call(self, list(args), kwargs)


def linearize(bases: tuple[Class, ...]) -> list[Class]:
    """The C3 merge of the bases' own orders. Raises TypeError where there is none."""
    sequences = [list(base.mro) for base in bases] + [list(bases)]
    result: list[Class] = []
    while sequences := [sequence for sequence in sequences if sequence]:
        for sequence in sequences:
            head = sequence[0]
            if not any(head in other[1:] for other in sequences):
                break
        else:
            raise TypeError("Cannot create a consistent method resolution order (MRO) for bases")
        result.append(head)
        for sequence in sequences:
            if sequence[0] is head:
                del sequence[0]
    return result


class _Missing:
    __slots__ = ()

    def __repr__(self) -> str:
        return "<missing>"


MISSING = _Missing()


class TypingForm:
    """``Optional[int]``, ``Literal["a"]``, a TypeVar: a form of the typing module, passed over."""

    __slots__ = ("args", "attrs", "name")

    def __init__(self, name: str, args: tuple[Value, ...] = ()) -> None:
        self.name = name
        self.args = args
        self.attrs: dict[str, Value] = {}

    def __or__(self, other: Value) -> TypingForm:
        return TypingForm("Union", (self, other))

    def __ror__(self, other: Value) -> TypingForm:
        return TypingForm("Union", (other, self))

    def __repr__(self) -> str:
        return f"typing.{self.name}" + (f"[{', '.join(map(repr, self.args))}]" if self.args else "")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TypingForm) and (self.name, self.args) == (other.name, other.args)

    def __hash__(self) -> int:
        return hash((self.name, self.args))


def _special(name: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any) -> Any:
        found = self.cls.lookup(name)
        if found is MISSING:
            return NotImplemented
        return self.cls.machine.call_method(self, found, list(args))

    method.__name__ = name
    return method


class InstanceMethods:
    """Host special methods of instances, each ending in the interpreted method of that name."""

    cls: Class
    attrs: dict[str, Value]

    def __call__(self, *args: Value, **kwargs: Value) -> Value:
        return self.cls.machine.call(self, list(args), kwargs)


_BINARY = "add sub mul truediv floordiv mod pow and or xor lshift rshift matmul"
for _name in _BINARY.split():
    for _special_name in (f"__{_name}__", f"__r{_name}__"):
        setattr(InstanceMethods, _special_name, _special(_special_name))
for _name in ("lt", "le", "gt", "ge"):
    setattr(InstanceMethods, f"__{_name}__", _special(f"__{_name}__"))


class Instance(InstanceMethods):
    """An object of an interpreted (or modelled) class that carries no host value."""

    __slots__ = ("attrs", "cls")

    def __init__(self, cls: Class) -> None:
        self.cls = cls
        self.attrs: dict[str, Value] = {}

    def __eq__(self, other: object) -> Any:
        if self is other:
            return True
        found = self.cls.lookup("__eq__")
        if found is MISSING:
            return NotImplemented
        return self.cls.machine.call_method(self, found, [other])

    def __ne__(self, other: object) -> Any:
        found = self.cls.lookup("__ne__")
        if found is not MISSING:
            return self.cls.machine.call_method(self, found, [other])
        result = self.__eq__(other)
        return result if result is NotImplemented or type(result) is Unknown else not result

    def __hash__(self) -> int:
        found = self.cls.lookup("__hash__")
        if found is MISSING or found is None:
            return id(self) >> 4
        result = self.cls.machine.call_method(self, found, [])
        return result if isinstance(result, int) else id(self) >> 4

    def __bool__(self) -> bool:
        for name in ("__bool__", "__len__"):
            found = self.cls.lookup(name)
            if found is not MISSING:
                return bool(self.cls.machine.call_method(self, found, []))
        return True

    def _required(self, name: str, *args: Value) -> Value:
        found = self.cls.lookup(name)
        if found is MISSING:
            raise TypeError(f"'{self.cls.name}' object has no {name}")
        return self.cls.machine.call_method(self, found, list(args))

    def __len__(self) -> int:
        result = self._required("__len__")
        if type(result) is Unknown:
            raise UnknownTruth(result)
        return int(result)

    def __iter__(self) -> Iterator[Value]:
        if self.cls.lookup("__iter__") is MISSING and self.cls.lookup("__getitem__") is not MISSING:
            return self._sequence_iterator()
        result = self._required("__iter__")
        if type(result) is Unknown:
            raise UnknownTruth(result)
        return iter(result)

    def _sequence_iterator(self) -> Iterator[Value]:
        index = 0
        while True:
            try:
                yield self._required("__getitem__", index)
            except Raised as error:
                if error.value.cls.name == "IndexError":
                    return
                raise
            index += 1

    def __next__(self) -> Value:
        try:
            return self._required("__next__")
        except Raised as error:
            if error.value.cls.name == "StopIteration":
                raise StopIteration from None
            raise

    def __getitem__(self, key: Value) -> Value:
        return self._required("__getitem__", key)

    def __contains__(self, item: Value) -> bool:
        found = self.cls.lookup("__contains__")
        if found is not MISSING:
            return bool(self.cls.machine.call_method(self, found, [item]))
        return any(item is each or item == each for each in self)

    def __index__(self) -> int:
        return int(self._required("__index__"))

    def __int__(self) -> int:
        return int(self._required("__int__"))

    def __float__(self) -> float:
        return float(self._required("__float__"))

    def __repr__(self) -> str:
        found = self.cls.lookup("__repr__")
        if found is not MISSING:
            return str(self.cls.machine.call_method(self, found, []))
        return f"<{self.cls.module}.{self.cls.qualname} object>"

    def __str__(self) -> str:
        found = self.cls.lookup("__str__")
        if found is not MISSING:
            return str(self.cls.machine.call_method(self, found, []))
        return repr(self)

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    def __fspath__(self) -> str:
        return str(self)


# Instances of classes that derive from a host type carry its value by being of a host subclass.
class IntInstance(InstanceMethods, int):
    pass


class FloatInstance(InstanceMethods, float):
    pass


class StrInstance(InstanceMethods, str):
    pass


class BytesInstance(InstanceMethods, bytes):
    pass


class TupleInstance(InstanceMethods, tuple):  # type: ignore[type-arg]  # items are values
    pass


class ListInstance(InstanceMethods, list):  # type: ignore[type-arg]
    __hash__ = object.__hash__  # type: ignore[assignment]  # identity, unlike plain lists


class DictInstance(InstanceMethods, dict):  # type: ignore[type-arg]
    __hash__ = object.__hash__  # type: ignore[assignment]


class OrderedDictInstance(InstanceMethods, OrderedDict):  # type: ignore[type-arg]
    __hash__ = object.__hash__  # type: ignore[assignment]


class DefaultDictInstance(InstanceMethods, defaultdict):  # type: ignore[type-arg]
    __hash__ = object.__hash__  # type: ignore[assignment]


class SetInstance(InstanceMethods, set):  # type: ignore[type-arg]
    __hash__ = object.__hash__  # type: ignore[assignment]


class FrozenSetInstance(InstanceMethods, frozenset):  # type: ignore[type-arg]
    __hash__ = frozenset.__hash__


class DequeInstance(InstanceMethods, deque):  # type: ignore[type-arg]
    __hash__ = object.__hash__  # type: ignore[assignment]


CARRIERS: dict[type, type] = {
    int: IntInstance,
    float: FloatInstance,
    str: StrInstance,
    bytes: BytesInstance,
    tuple: TupleInstance,
    list: ListInstance,
    dict: DictInstance,
    OrderedDict: OrderedDictInstance,
    defaultdict: DefaultDictInstance,
    set: SetInstance,
    frozenset: FrozenSetInstance,
    deque: DequeInstance,
}
_OWN = ("__call__", "__dict__", "__module__", "__doc__", "__annotations__", "__weakref__")
for _host in CARRIERS.values():
    # The host type's own operators serve: only classes that override one are looked up (see operators.py).
    for _special_name in list(vars(InstanceMethods)):
        if _special_name.startswith("__") and _special_name not in _OWN and hasattr(_host.__mro__[2], _special_name):
            setattr(_host, _special_name, getattr(_host.__mro__[2], _special_name))

INSTANCE_TYPES: frozenset[Any] = frozenset({Instance, *CARRIERS.values()})


class Function:
    """A function of the program with the frame it closes over."""

    __slots__ = (
        "attrs",
        "defaults",
        "frame",
        "is_generator",
        "kwdefaults",
        "machine",
        "module",
        "name",
        "node",
        "qualname",
    )

    def __init__(
        self,
        machine: Machine,
        node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda,
        frame: Frame,
        name: str,
        qualname: str,
        defaults: list[Value],
        kwdefaults: dict[str, Value],
        is_generator: bool,
    ) -> None:
        self.machine = machine
        self.node = node
        self.frame = frame
        self.name = name
        self.qualname = qualname
        self.defaults = defaults
        self.kwdefaults = kwdefaults
        self.is_generator = is_generator
        self.module = frame.module
        self.attrs: dict[str, Value] = {}

    def __call__(self, *args: Value, **kwargs: Value) -> Value:
        return self.machine.call(self, list(args), kwargs)

    def __repr__(self) -> str:
        return f"<function {self.qualname}>"


class Builtin:
    """A function of ours: ``function(machine, *args, **kwargs)``. ``binds`` makes it a method when found on a class.

    ``parameters`` are the parameter names told to ``inspect.signature``, where known.
    """

    __slots__ = ("attrs", "binds", "function", "name", "parameters")

    def __init__(
        self, name: str, function: Callable[..., Value], binds: bool = False, parameters: str | None = None
    ) -> None:
        self.name = name
        self.function = function
        self.binds = binds
        self.parameters = parameters
        self.attrs: dict[str, Value] = {}

    def __repr__(self) -> str:
        return f"<built-in function {self.name}>"


class BoundMethod:
    __slots__ = ("function", "receiver")

    def __init__(self, function: Value, receiver: Value) -> None:
        self.function = function
        self.receiver = receiver

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BoundMethod) and self.function is other.function and self.receiver is other.receiver

    def __hash__(self) -> int:
        return hash((id(self.function), id(self.receiver)))

    def __call__(self, *args: Value, **kwargs: Value) -> Value:
        function = self.function
        machine = function.machine if isinstance(function, Function) else type_machine(self.receiver)
        return machine.call(self, list(args), kwargs)

    def __repr__(self) -> str:
        return f"<bound method {getattr(self.function, 'name', '?')}>"


def type_machine(value: Value) -> Machine:
    """The machine that owns a value with a class."""
    machine: Machine = (value if isinstance(value, Class) else value.cls).machine
    return machine


class NativeMethod:
    """A method of a host value, ``"a b".split``."""

    __slots__ = ("name", "receiver")

    def __init__(self, receiver: Value, name: str) -> None:
        self.receiver = receiver
        self.name = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NativeMethod) and self.receiver is other.receiver and self.name == other.name

    def __hash__(self) -> int:
        return hash((id(self.receiver), self.name))


class Partial:
    __slots__ = ("args", "attrs", "function", "keywords")

    function: Value
    args: list[Value]
    keywords: dict[str, Value]

    def __init__(self, function: Value, args: list[Value], keywords: dict[str, Value]) -> None:
        if isinstance(function, Partial):
            args = [*function.args, *args]
            keywords = {**function.keywords, **keywords}
            function = function.function
        self.function = function
        self.args = args
        self.keywords = keywords
        self.attrs: dict[str, Value] = {}


class Property:
    __slots__ = ("attrs", "deleter", "getter", "setter")

    def __init__(self, getter: Value, setter: Value = None, deleter: Value = None) -> None:
        self.getter = getter
        self.setter = setter
        self.deleter = deleter
        self.attrs: dict[str, Value] = {}


class CachedProperty:
    __slots__ = ("function", "name")

    def __init__(self, function: Value, name: str) -> None:
        self.function = function
        self.name = name


class ClassMethod:
    __slots__ = ("attrs", "function")

    def __init__(self, function: Value) -> None:
        self.function = function
        self.attrs: dict[str, Value] = {}


class StaticMethod:
    __slots__ = ("attrs", "function")

    def __init__(self, function: Value) -> None:
        self.function = function
        self.attrs: dict[str, Value] = {}


class Super:
    __slots__ = ("cls", "receiver")

    def __init__(self, cls: Class, receiver: Value) -> None:
        self.cls = cls
        self.receiver = receiver


class PythonModule:
    """A module of the program or one of ours. ``missing`` answers for names we do not model."""

    __slots__ = ("cls", "file", "is_package", "loading", "missing", "name", "namespace", "stars")

    def __init__(self, name: str, file: str | None = None, is_package: bool = False) -> None:
        self.name = name
        self.file = file
        self.is_package = is_package
        self.namespace: dict[str, Value] = {"__name__": name}
        self.missing: Callable[[str], Value] | None = None
        self.loading = False
        self.stars: list[str] = []
        """Modules whose public names are imported with a star, found when a name is needed."""
        self.cls: Class | None = None
        """A class the program gave the module (``module.__class__ = ...``)."""

    def __repr__(self) -> str:
        return f"<module '{self.name}'>"


class LazyImport:
    """A name bound by a module-level import, resolved when it is first read."""

    __slots__ = ("attribute", "module")

    def __init__(self, module: str, attribute: str | None) -> None:
        self.module = module
        self.attribute = attribute


class Generator:
    """A suspended interpreted function; a host iterator, so host code can consume it."""

    __slots__ = ("iterator", "returned", "sent")

    def __init__(self, iterator: Iterator[Value]) -> None:
        self.iterator = iterator
        self.sent: Value = None
        self.returned: Value = None

    def __iter__(self) -> Generator:
        return self

    def __next__(self) -> Value:
        return next(self.iterator)
