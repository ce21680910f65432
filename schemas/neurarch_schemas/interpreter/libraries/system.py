"""os, sys, pathlib, json, time, logging, warnings, threading, weakref, string: what constructors ask of them.

Nothing is read from the machine: the environment is empty, files exist only on the search paths.
"""

from __future__ import annotations

import json
import os.path
import string as host_string
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from neurarch_schemas.interpreter.libraries.files import TextFile, find_files, open_file
from neurarch_schemas.interpreter.libraries.library import method, module, new_class, nothing, plain, unknown_data
from neurarch_schemas.interpreter.values import (
    MISSING,
    Builtin,
    Class,
    Instance,
    Property,
    PythonModule,
    StrInstance,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine


def build(machine: Machine, name: str) -> PythonModule:
    makers: dict[str, Callable[[Machine], PythonModule]] = {
        "os": _os,
        "os.path": _os_path,
        "sys": _sys,
        "pathlib": _pathlib,
        "platform": _platform,
        "time": _time,
        "json": _json,
        "warnings": _warnings,
        "logging": _logging,
        "threading": _threading,
        "weakref": _weakref,
        "string": _string,
        "pkgutil": lambda machine: module("pkgutil", {"walk_packages": _no_modules, "iter_modules": _no_modules}),
    }
    return makers[name](machine)


def _no_modules(machine: Machine, *args: Value, **kwargs: Value) -> list[Value]:
    """Packages are not walked: what they hold is read when it is named."""
    return []


def _os(machine: Machine) -> PythonModule:
    return module(
        "os",
        {
            "path": machine.import_module("os.path"),
            "environ": {},
            "getenv": lambda machine, key, default=None: default,
            "sep": "/",
            "linesep": "\n",
            "name": "posix",
            "getcwd": lambda machine: "/",
            "cpu_count": lambda machine: 1,
            "makedirs": nothing,
            "PathLike": Class(machine, "PathLike", module="os"),
            "fspath": lambda machine, value: str(value),
            "listdir": lambda machine, *args: Unknown("a directory listing", data=True),
            "getpid": lambda machine: 1,
        },
    )


def _os_path(machine: Machine) -> PythonModule:
    names = ("join", "basename", "dirname", "splitext", "normpath", "isabs", "split", "commonprefix")
    entries: dict[str, Value] = {name: plain(getattr(os.path, name)) for name in names}
    entries["abspath"] = entries["realpath"] = entries["expanduser"] = entries["expandvars"] = plain(os.path.normpath)
    entries["exists"] = entries["isfile"] = lambda machine, path: machine.sources.readable(str(path)) is not None
    entries["isdir"] = lambda machine, path: False
    entries["sep"] = "/"
    return module("os.path", entries)


class LoadedModules(dict):  # type: ignore[type-arg]  # values of the program
    """``sys.modules``: writing replaces what later imports of the name give."""

    def interpreted_getitem(self, machine: Machine, key: Value) -> Value:
        found = machine.modules.get(key)
        if found is None:
            machine.fail("KeyError", str(key))
        return found

    def interpreted_setitem(self, machine: Machine, key: Value, item: Value) -> None:
        machine.modules[key] = item

    def interpreted_attr(self, machine: Machine, name: str) -> Value:
        if name == "get":
            return Builtin("get", lambda machine, key, default=None: machine.modules.get(key, default))
        return Builtin(name, nothing)


def _sys(machine: Machine) -> PythonModule:
    version = machine.call(
        machine.module_attr(machine.import_module("collections"), "namedtuple"),
        ["version_info", ["major", "minor", "micro", "releaselevel", "serial"]],
        {},
    )
    return module(
        "sys",
        {
            "version_info": machine.call(version, [3, 11, 9, "final", 0], {}),
            "version": "3.11.9",
            "modules": LoadedModules(),
            "platform": "linux",
            "argv": [""],
            "path": [],
            "maxsize": 2**63 - 1,
            "byteorder": "little",
            "executable": "python",
            "exit": lambda machine, *args: machine.fail("SystemExit"),
            "getrecursionlimit": lambda machine: 1000,
            "setrecursionlimit": nothing,
            "exc_info": lambda machine: (None, None, None),
            "intern": lambda machine, value: value,
            "getsizeof": lambda machine, value: 0,
            "stdout": Unknown("a stream", data=True),
            "stderr": Unknown("a stream", data=True),
        },
    )


def _platform(machine: Machine) -> PythonModule:
    return module(
        "platform",
        {
            "system": lambda machine: "Linux",
            "machine": lambda machine: "x86_64",
            "processor": lambda machine: "x86_64",
            "python_version": lambda machine: "3.11.9",
            "platform": lambda machine: "Linux",
            "release": lambda machine: "6",
        },
    )


def _time(machine: Machine) -> PythonModule:
    unknown = lambda machine, *args: Unknown("the time", data=True)  # noqa: E731
    return module("time", {"time": unknown, "perf_counter": unknown, "monotonic": unknown, "sleep": nothing})


def _json(machine: Machine) -> PythonModule:
    def loads(machine: Machine, text: Value, **kwargs: Value) -> Value:
        if type(text) is Unknown:
            return text
        return json.loads(text)

    return module(
        "json",
        {
            "loads": loads,
            "dumps": lambda machine, *args, **kwargs: Unknown("JSON text", data=True),
            "load": lambda machine, file, **kwargs: (
                json.loads(file.text) if isinstance(file, TextFile) else Unknown("a JSON file", data=True)
            ),
            "dump": nothing,
            "JSONDecodeError": machine.builtins["ValueError"],
            "JSONEncoder": Class(machine, "JSONEncoder", module="json"),
        },
    )


def _warnings(machine: Machine) -> PythonModule:
    manager = new_class(
        machine,
        "catch_warnings",
        "warnings",
        {"__init__": nothing, "__enter__": lambda machine, self: [], "__exit__": nothing},
    )
    return module(
        "warnings",
        {
            "warn": nothing,
            "filterwarnings": nothing,
            "simplefilter": nothing,
            "warn_explicit": nothing,
            "catch_warnings": manager,
            "deprecated": lambda machine, *args, **kwargs: Builtin("deprecated", lambda machine, function: function),
        },
    )


def _logging(machine: Machine) -> PythonModule:
    names = (
        "debug",
        "info",
        "warning",
        "error",
        "critical",
        "exception",
        "log",
        "warn",
        "setLevel",
        "addHandler",
        "addFilter",
        "removeHandler",
        "setFormatter",
        "warning_once",
        "info_once",
    )
    logger = new_class(machine, "Logger", "logging", dict.fromkeys(names, nothing))
    logger.namespace["isEnabledFor"] = method("isEnabledFor", lambda machine, self, level: False)
    logger.namespace["getEffectiveLevel"] = method("getEffectiveLevel", lambda machine, self: 30)
    logger.namespace["hasHandlers"] = method("hasHandlers", lambda machine, self: True)
    logger.namespace["__init__"] = method("__init__", nothing)
    logger.namespace.update(handlers=[], propagate=False, level=30, name="root", disabled=False)
    root = Instance(logger)

    def get_logger(machine: Machine, name: Value = None) -> Value:
        return Instance(logger)

    levels = {"DEBUG": 10, "INFO": 20, "WARNING": 30, "WARN": 30, "ERROR": 40, "CRITICAL": 50, "FATAL": 50, "NOTSET": 0}
    handler = new_class(machine, "Handler", "logging", {"__init__": nothing, **dict.fromkeys(names, nothing)})
    return module(
        "logging",
        {
            **dict.fromkeys(
                (
                    "debug",
                    "info",
                    "warning",
                    "error",
                    "critical",
                    "exception",
                    "log",
                    "warn",
                    "basicConfig",
                    "disable",
                    "captureWarnings",
                    "addLevelName",
                    "setLoggerClass",
                ),
                nothing,
            ),
            **levels,
            "getLogger": get_logger,
            "getLevelName": lambda machine, level: "WARNING",
            "Logger": logger,
            "LoggerAdapter": logger,
            "root": root,
            "Handler": handler,
            "StreamHandler": handler,
            "FileHandler": handler,
            "NullHandler": handler,
            "Formatter": handler,
            "Filter": handler,
        },
    )


def _threading(machine: Machine) -> PythonModule:
    lock = new_class(
        machine,
        "Lock",
        "threading",
        {
            "__init__": nothing,
            "__enter__": lambda machine, self: self,
            "__exit__": nothing,
            "acquire": nothing,
            "release": nothing,
        },
    )
    local = new_class(machine, "local", "threading", {})
    return module(
        "threading",
        {"Lock": lock, "RLock": lock, "local": local, "get_ident": lambda machine: 1},
        unknown_data("threading"),
    )


def _weakref(machine: Machine) -> PythonModule:
    def reference(machine: Machine, value: Value, *args: Value) -> Value:
        return Builtin("ref", lambda machine: value)

    return module(
        "weakref",
        {
            "ref": reference,
            "proxy": lambda machine, value, *args: value,
            "WeakKeyDictionary": machine.builtins["dict"],
            "WeakValueDictionary": machine.builtins["dict"],
            "WeakSet": machine.builtins["set"],
            "finalize": nothing,
        },
    )


def _string(machine: Machine) -> PythonModule:
    names = ("ascii_letters", "ascii_lowercase", "ascii_uppercase", "digits", "punctuation", "whitespace", "hexdigits")
    return module("string", {name: getattr(host_string, name) for name in names})


def _pathlib(machine: Machine) -> PythonModule:
    path = Class(machine, "Path", (machine.builtins["str"],), module="pathlib")
    path.native = None
    path.mro = (path,)
    path.namespaces = (path.namespace,)

    def make(text: str) -> Instance:
        made = Instance(path)
        made.attrs["<path>"] = os.path.normpath(text) if text else "."
        return made

    def text(value: Value) -> str:
        return value.attrs["<path>"] if isinstance(value, Instance) and "<path>" in value.attrs else str(value)

    def construct(machine: Machine, *parts: Value) -> Value:
        for part in parts:
            if type(part) is Unknown:
                return part
        return make(os.path.join("", *(text(part) for part in parts)))

    def prop(function: Any) -> Property:
        return Property(Builtin("property", lambda machine, self: function(text(self))))

    path.construct = construct
    path.namespace.update(
        {
            "__truediv__": method(
                "__truediv__", lambda machine, self, other: make(os.path.join(text(self), text(other)))
            ),
            "__str__": method("__str__", lambda machine, self: text(self)),
            "__repr__": method("__repr__", lambda machine, self: text(self)),
            "__hash__": method("__hash__", lambda machine, self: hash(text(self))),
            "__eq__": method("__eq__", lambda machine, self, other: text(self) == text(other)),
            "__fspath__": method("__fspath__", lambda machine, self: text(self)),
            "joinpath": method(
                "joinpath", lambda machine, self, *parts: make(os.path.join(text(self), *map(text, parts)))
            ),
            "resolve": method("resolve", lambda machine, self, *args, **kwargs: self),
            "absolute": method("absolute", lambda machine, self: self),
            "expanduser": method("expanduser", lambda machine, self: self),
            "as_posix": method("as_posix", lambda machine, self: text(self)),
            "exists": method("exists", lambda machine, self: machine.sources.readable(text(self)) is not None),
            "is_file": method("is_file", lambda machine, self: machine.sources.readable(text(self)) is not None),
            "open": method(
                "open", lambda machine, self, *args, **kwargs: open_file(machine, text(self), *args, **kwargs)
            ),
            "is_dir": method("is_dir", lambda machine, self: False),
            "mkdir": method("mkdir", nothing),
            "read_text": method("read_text", _read_text),
            "with_suffix": method(
                "with_suffix", lambda machine, self, suffix: make(os.path.splitext(text(self))[0] + suffix)
            ),
            "name": prop(os.path.basename),
            "parent": prop(lambda value: make(os.path.dirname(value))),
            "parents": prop(lambda value: _parents(make, value)),
            "stem": prop(lambda value: os.path.splitext(os.path.basename(value))[0]),
            "suffix": prop(lambda value: os.path.splitext(value)[1]),
            "parts": prop(lambda value: tuple(value.split("/"))),
            "glob": method(
                "glob",
                lambda machine, self, pattern: [make(each) for each in find_files(machine, f"{text(self)}/{pattern}")],
            ),
            "rglob": method(
                "rglob",
                lambda machine, self, pattern: [
                    make(each) for each in find_files(machine, f"{text(self)}/**/{pattern}")
                ],
            ),
            "cwd": Builtin("cwd", lambda machine: make("/")),
            "home": Builtin("home", lambda machine: make("/")),
        }
    )
    return module(
        "pathlib", {"Path": path, "PurePath": path, "PosixPath": path, "WindowsPath": Class(machine, "WindowsPath")}
    )


def _parents(make: Any, value: str) -> list[Instance]:
    found = []
    while value not in ("", "/", "."):
        value = os.path.dirname(value)
        found.append(make(value))
    return found


def _read_text(machine: Machine, self: Instance, *args: Value, **kwargs: Value) -> Value:
    found = machine.sources.readable(self.attrs["<path>"])
    if found is None:
        machine.fail("FileNotFoundError", self.attrs["<path>"])
    return found


__all__ = ["MISSING", "StrInstance", "build"]
