"""contextlib and contextvars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neurarch_schemas.interpreter.libraries.functional import copy_names
from neurarch_schemas.interpreter.libraries.library import module, new_class
from neurarch_schemas.interpreter.values import MISSING, Builtin, Class, Instance, PythonModule, Raised, Value

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine


def build(machine: Machine, name: str) -> PythonModule:
    if name == "contextvars":
        variable = new_class(
            machine, "ContextVar", name, {"__init__": _declare, "get": _current, "set": _assign, "reset": _restore}
        )
        return module(name, {"ContextVar": variable})
    manager = new_class(
        machine, "AbstractContextManager", name, {"__enter__": lambda machine, self: self, "__exit__": _none}
    )
    suppress = new_class(
        machine,
        "suppress",
        name,
        {"__init__": _remember, "__enter__": lambda machine, self: self, "__exit__": _suppressed},
    )
    null = new_class(
        machine,
        "nullcontext",
        name,
        {
            "__init__": _remember,
            "__enter__": lambda machine, self: self.attrs["args"][0] if self.attrs["args"] else None,
            "__exit__": _none,
        },
    )
    stack = new_class(
        machine,
        "ExitStack",
        name,
        {
            "__enter__": lambda machine, self: self,
            "__exit__": _none,
            "enter_context": lambda machine, self, entered: machine.call(
                machine.get_attr(entered, "__enter__"), [], {}
            ),
            "callback": _none,
            "push": _none,
            "close": _none,
        },
    )
    return module(
        name,
        {
            "contextmanager": _contextmanager,
            "asynccontextmanager": _contextmanager,
            "AbstractContextManager": manager,
            "ContextDecorator": Class(machine, "ContextDecorator", module=name),
            "suppress": suppress,
            "nullcontext": null,
            "ExitStack": stack,
            "redirect_stdout": null,
            "redirect_stderr": null,
            "closing": null,
        },
    )


def _declare(machine: Machine, self: Instance, name: Value, *, default: Value = MISSING) -> None:
    self.attrs.update({"name": name, "<value>": default})


def _current(machine: Machine, self: Instance, default: Value = MISSING) -> Value:
    value = self.attrs["<value>"]
    if value is not MISSING:
        return value
    if default is MISSING:
        machine.fail("LookupError", str(self.attrs["name"]))
    return default


def _assign(machine: Machine, self: Instance, value: Value) -> Value:
    """A token that ``reset`` takes: what was held before."""
    before = (self.attrs["<value>"],)
    self.attrs["<value>"] = value
    return before


def _restore(machine: Machine, self: Instance, token: Value) -> None:
    (self.attrs["<value>"],) = token


def _none(machine: Machine, self: Value, *args: Value, **kwargs: Value) -> None:
    return None


def _remember(machine: Machine, self: Instance, *args: Value) -> None:
    self.attrs["args"] = args


def _suppressed(machine: Machine, self: Instance, cls: Value, error: Value, traceback: Value) -> bool:
    return error is not None and machine.is_instance(error, self.attrs["args"]) is True


def _contextmanager(machine: Machine, function: Value) -> Value:
    cls = new_class(
        machine,
        "_GeneratorContextManager",
        "contextlib",
        {"__enter__": _enter, "__exit__": _exit, "__call__": _decorate},
    )

    def call(machine: Machine, *args: Value, **kwargs: Value) -> Value:
        instance = Instance(cls)
        instance.attrs["make"] = (function, list(args), kwargs)
        return instance

    return copy_names(Builtin(getattr(function, "name", "manager"), call, binds=True), function)


def _enter(machine: Machine, self: Instance) -> Value:
    function, args, kwargs = self.attrs["make"]
    generator = machine.call(function, args, kwargs)
    self.attrs["generator"] = generator
    return next(machine.iterate(generator), None)


def _exit(machine: Machine, self: Instance, cls: Value, error: Value, traceback: Value) -> bool:
    iterator = self.attrs["generator"].iterator
    if error is None:
        next(iterator, None)
        return False
    try:
        iterator.throw(Raised(error))
    except StopIteration:
        return True
    except Raised as raised:
        if raised.value is not error:
            raise
        return False
    return False


def _decorate(machine: Machine, self: Instance, function: Value) -> Value:
    return function
