"""os, sys, json, time, logging, warnings, threading, weakref, string: what constructors ask of them.

Nothing is read from the machine: the environment is empty, files exist only on the search paths.
"""

from __future__ import annotations

import json
import string as host_string
from collections.abc import Callable
from typing import TYPE_CHECKING

from neurarch_schemas.interpreter.libraries.files import TextFile
from neurarch_schemas.interpreter.libraries.library import method, module, new_class, nothing, unknown_data
from neurarch_schemas.interpreter.libraries.paths import list_folder, path_text
from neurarch_schemas.interpreter.values import (
    Builtin,
    Class,
    Instance,
    PythonModule,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine


def build(machine: Machine, name: str) -> PythonModule:
    makers: dict[str, Callable[[Machine], PythonModule]] = {
        "os": _os,
        "sys": _sys,
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
            "fspath": lambda machine, value: path_text(value),
            "listdir": list_folder,
            "getpid": lambda machine: 1,
        },
    )


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
    logger.namespace["hasHandlers"] = method("hasHandlers", lambda machine, self: False)
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
