"""os.path and pathlib: names of files as text, and which of them exist below the search paths."""

from __future__ import annotations

import os.path
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from neurarch_schemas.interpreter.libraries.files import find_files, open_file
from neurarch_schemas.interpreter.libraries.library import Function, method, module, nothing, plain
from neurarch_schemas.interpreter.values import Builtin, Class, Instance, Property, PythonModule, Unknown, Value

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine


def build(machine: Machine, name: str) -> PythonModule:
    return _os_path(machine) if name == "os.path" else _pathlib(machine)


def path_text(value: Value) -> str:
    """A path given as text or as an instance of ours."""
    return value.attrs["<path>"] if isinstance(value, Instance) and "<path>" in value.attrs else str(value)


def _on_text(function: Callable[..., Any]) -> Function:
    """A function of ``os.path`` over texts and paths alike."""
    inner = plain(function)

    def call(machine: Machine, *args: Value, **kwargs: Value) -> Value:
        given = [path_text(value) if value.__class__ is Instance else value for value in args]
        return inner(machine, *given, **kwargs)

    return call


def _question(ask: Callable[[Machine, str], bool]) -> Function:
    def call(machine: Machine, path: Value) -> Value:
        return Unknown(path.reason, data=True) if type(path) is Unknown else ask(machine, path_text(path))

    return call


def _is_file(machine: Machine, path: str) -> bool:
    return machine.sources.is_file(path)


def _is_folder(machine: Machine, path: str) -> bool:
    return machine.sources.entries(path) is not None


def _exists(machine: Machine, path: str) -> bool:
    return _is_file(machine, path) or _is_folder(machine, path)


def _os_path(machine: Machine) -> PythonModule:
    names = ("join", "basename", "dirname", "splitext", "normpath", "isabs", "split", "commonprefix", "commonpath")
    entries: dict[str, Value] = {name: _on_text(getattr(os.path, name)) for name in names}
    entries["relpath"] = _on_text(lambda path, start="/": os.path.relpath(path, start))
    for name in ("abspath", "realpath", "expanduser", "expandvars", "normcase"):
        entries[name] = _on_text(os.path.normpath)
    entries["exists"] = entries["lexists"] = _question(_exists)
    entries["isfile"] = _question(_is_file)
    entries["isdir"] = _question(_is_folder)
    entries["islink"] = entries["ismount"] = lambda machine, path: False
    entries["sep"] = "/"
    entries["pardir"] = ".."
    return module("os.path", entries)


def list_folder(machine: Machine, path: Value = ".") -> Value:
    """``os.listdir``."""
    if type(path) is Unknown:
        return Unknown(path.reason, data=True)
    found = machine.sources.entries(path_text(path))
    if found is None:
        machine.fail("FileNotFoundError", f"No such folder on the search paths: {path_text(path)}")
    return list(found)


def _pathlib(machine: Machine) -> PythonModule:
    path = Class(machine, "Path", module="pathlib")

    def make(made: str | PurePosixPath) -> Instance:
        instance = Instance(path)
        instance.attrs["<path>"] = str(made if isinstance(made, PurePosixPath) else PurePosixPath(made))
        return instance

    def construct(machine: Machine, *parts: Value) -> Value:
        unknown = next((part for part in parts if type(part) is Unknown), None)
        return unknown if unknown is not None else make(PurePosixPath(*map(path_text, parts)))

    def pure(name: str) -> Function:
        """A method of the host's ``PurePosixPath``, which touches no disk."""

        def call(machine: Machine, self: Instance, *args: Value) -> Value:
            unknown = next((arg for arg in args if type(arg) is Unknown), None)
            if unknown is not None:
                return Unknown(unknown.reason, data=True)
            found = getattr(PurePosixPath(path_text(self)), name)(*map(path_text, args))
            return make(found) if isinstance(found, PurePosixPath) else found

        return call

    def attribute(name: str) -> Property:
        def call(machine: Machine, self: Instance) -> Value:
            found = getattr(PurePosixPath(path_text(self)), name)
            if isinstance(found, PurePosixPath):
                return make(found)
            return [make(each) for each in found] if name == "parents" else list(found) if name == "suffixes" else found

        return Property(Builtin(name, call))

    def contents(machine: Machine, self: Instance) -> Value:
        return [make(os.path.join(path_text(self), name)) for name in list_folder(machine, self)]

    def search(pattern_prefix: str) -> Function:
        return lambda machine, self, pattern: [
            make(each) for each in find_files(machine, f"{path_text(self)}/{pattern_prefix}{pattern}")
        ]

    def read_text(machine: Machine, self: Instance, *args: Value, **kwargs: Value) -> Value:
        found = machine.sources.readable(path_text(self))
        if found is None:
            machine.fail("FileNotFoundError", path_text(self))
        return found

    def same(machine: Machine, self: Instance, *args: Value, **kwargs: Value) -> Value:
        return make(os.path.normpath(path_text(self)))

    methods: dict[str, Function] = {
        "__truediv__": pure("joinpath"),
        "__rtruediv__": lambda machine, self, other: make(PurePosixPath(path_text(other), path_text(self))),
        "__str__": lambda machine, self: path_text(self),
        "__repr__": lambda machine, self: f"PosixPath('{path_text(self)}')",
        "__fspath__": lambda machine, self: path_text(self),
        "__hash__": lambda machine, self: hash(path_text(self)),
        "__eq__": lambda machine, self, other: other.__class__ is Instance and path_text(self) == path_text(other),
        "__lt__": lambda machine, self, other: path_text(self) < path_text(other),
        "exists": _question(_exists),
        "is_file": _question(_is_file),
        "is_dir": _question(_is_folder),
        "iterdir": contents,
        "glob": search(""),
        "rglob": search("**/"),
        "open": lambda machine, self, *args, **kwargs: open_file(machine, path_text(self), *args, **kwargs),
        "read_text": read_text,
        "mkdir": nothing,
        "touch": nothing,
        "unlink": nothing,
        **dict.fromkeys(("resolve", "absolute", "expanduser"), same),
        **{
            name: pure(name)
            for name in ("joinpath", "with_suffix", "with_name", "with_stem", "relative_to", "is_relative_to")
        },
        **{name: pure(name) for name in ("as_posix", "is_absolute", "match")},
    }
    path.construct = construct
    path.namespace.update({name: method(name, function) for name, function in methods.items()})
    for name in ("name", "stem", "suffix", "suffixes", "parent", "parents", "parts", "anchor", "root"):
        path.namespace[name] = attribute(name)
    for name in ("cwd", "home"):
        path.namespace[name] = Builtin(name, lambda machine: make("/"))
    return module(
        "pathlib",
        {
            **dict.fromkeys(("Path", "PurePath", "PosixPath", "PurePosixPath"), path),
            "WindowsPath": Class(machine, "WindowsPath", module="pathlib"),
        },
    )
