"""importlib, importlib.metadata and packaging.version: which packages are there, told from the search paths."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from neurarch_schemas.interpreter.libraries.library import module, new_class, nothing
from neurarch_schemas.interpreter.values import Builtin, Class, Instance, Property, PythonModule, Raised, Unknown, Value

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine

VERSIONS = {
    "torch": "2.13.0",
    "numpy": "2.4.0",
    "triton": "3.4.0",
    "einops": "0.8.1",
    "huggingface_hub": "2.4.0",
    "huggingface-hub": "2.4.0",
}
"""Of the libraries that are ours, where the search paths do not tell."""


def build(machine: Machine, name: str) -> PythonModule:
    if name in ("importlib.metadata", "importlib_metadata", "pkg_resources"):
        missing = Class(machine, "PackageNotFoundError", (machine.builtins["ModuleNotFoundError"],), module=name)
        machine.builtins["<PackageNotFoundError>"] = missing
        return module(
            name,
            {
                "version": _version,
                "PackageNotFoundError": missing,
                "packages_distributions": lambda machine: Distributions(),
                "entry_points": lambda machine, **kwargs: [],
                "distribution": _distribution,
                "get_distribution": _distribution,
            },
        )
    if name == "importlib.util":
        return module(
            name,
            {
                "find_spec": _find_spec,
                "spec_from_file_location": lambda machine, *args, **kwargs: Unknown("a module loaded from a file"),
            },
        )
    if name.startswith("packaging"):
        return _packaging(machine, name)
    return module(
        name,
        {
            "import_module": _import_module,
            "metadata": machine.import_module("importlib.metadata"),
            "util": machine.import_module("importlib.util"),
            "reload": lambda machine, value: value,
            "invalidate_caches": nothing,
        },
    )


class Distributions(dict):  # type: ignore[type-arg]
    """``packages_distributions()``: each package in a distribution of its own name."""

    def interpreted_getitem(self, machine: Machine, key: Value) -> Value:
        return [key]

    def interpreted_attr(self, machine: Machine, name: str) -> Value:
        return Builtin(name, lambda machine, key, default=None: [key])


def _import_module(machine: Machine, name: Value, package: Value = None) -> Value:
    if type(name) is Unknown:
        return Unknown(name.reason)
    if name.startswith("."):
        level = len(name) - len(name.lstrip("."))
        parts = str(package or "").split(".")
        name = ".".join([*parts[: len(parts) - level + 1], name.lstrip(".")])
    return machine.import_module(name)


def _find_spec(machine: Machine, name: Value, package: Value = None) -> Value:
    if type(name) is Unknown:
        return name
    if not machine.exists(name):
        return None
    made = Instance(Class(machine, "ModuleSpec", module="importlib"))
    made.attrs.update(
        name=name, origin=name, loader=Instance(Class(machine, "Loader")), submodule_search_locations=None
    )
    return made


def version_of(machine: Machine, name: str) -> str | None:
    return machine.sources.version(name) or VERSIONS.get(name)


def _version(machine: Machine, name: Value) -> Value:
    found = version_of(machine, name)
    if found is None:
        top = name.replace("-", "_")
        if machine.sources.find(top) is not None:
            return Unknown(f"the version of {name}", data=True)
        instance = Instance(machine.builtins["<PackageNotFoundError>"])
        instance.attrs["args"] = (name,)
        raise Raised(instance, machine.where())
    return found


def _distribution(machine: Machine, name: Value) -> Value:
    made = Instance(Class(machine, "Distribution", module="importlib.metadata"))
    made.attrs.update(version=_version(machine, name), name=name)
    return made


_PARTS = re.compile(
    r"^\s*v?(\d+(?:\.\d+)*)(?:[-_.]?(a|b|rc|alpha|beta|c|pre)[-_.]?(\d*))?(?:[-_.]?(?:post|rev|r)?(\d+))?(?:[-_.]?(dev)(\d*))?(?:\+(.*))?",
    re.I,
)


_STAGES = {"a": "a", "alpha": "a", "b": "b", "beta": "b", "rc": "rc", "c": "rc", "pre": "rc"}


def _packaging(machine: Machine, name: str) -> PythonModule:
    if name == "packaging":
        return module(name, {"version": machine.import_module("packaging.version")})

    def make(machine: Machine, text: Value) -> Value:
        if type(text) is Unknown:
            return text
        match = _PARTS.match(str(text))
        if match is None:
            machine.fail("ValueError", f"Invalid version: {text}")
        release = tuple(int(part) for part in match.group(1).split("."))
        made = Instance(cls)
        trimmed = list(release)
        while len(trimmed) > 1 and trimmed[-1] == 0:
            trimmed.pop()
        stage = (
            (-1, 0)
            if match.group(5) and not match.group(2)
            else (0, 0)
            if match.group(2)
            else (1, int(match.group(4) or 0))
        )
        made.attrs["<key>"] = (tuple(trimmed), stage, match.group(2) or "", int(match.group(3) or 0))
        padded = (*release, 0, 0, 0)
        made.attrs.update(
            release=release,
            major=padded[0],
            minor=padded[1],
            micro=padded[2],
            base_version=match.group(1),
            public=match.group(1),
            local=match.group(7),
            is_prerelease=bool(match.group(2) or match.group(5)),
            is_postrelease=match.group(4) is not None,
            is_devrelease=bool(match.group(5)),
            epoch=0,
            pre=(_STAGES[match.group(2).lower()], int(match.group(3) or 0)) if match.group(2) else None,
            dev=int(match.group(6) or 0) if match.group(5) else None,
            post=int(match.group(4)) if match.group(4) is not None else None,
        )
        made.attrs["<text>"] = str(text)
        return made

    def comparison(check: Any) -> Any:
        def compare(machine: Machine, self: Instance, other: Value) -> Value:
            if type(other) is Unknown:
                return other
            if not isinstance(other, Instance):
                return NotImplemented
            return check(self.attrs["<key>"], other.attrs["<key>"])

        return compare

    cls = new_class(
        machine,
        "Version",
        "packaging.version",
        {
            "__lt__": comparison(lambda a, b: a < b),
            "__le__": comparison(lambda a, b: a <= b),
            "__gt__": comparison(lambda a, b: a > b),
            "__ge__": comparison(lambda a, b: a >= b),
            "__eq__": comparison(lambda a, b: a == b),
            "__hash__": lambda machine, self: hash(self.attrs["<key>"]),
            "__str__": lambda machine, self: self.attrs["<text>"],
        },
    )
    cls.construct = make
    return module(name, {"parse": make, "Version": cls, "InvalidVersion": machine.builtins["ValueError"]})


__all__ = ["Property", "build", "version_of"]
