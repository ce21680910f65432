"""The import system: modules of ours, files on the search paths, and names that are resolved when first needed.

Imports at module level are lazy: a file is read only when one of its names is. ``eager`` runs them as Python does,
for programs whose imports have effects (registries).
"""

from __future__ import annotations

import ast
import os
import re
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from typing import Protocol

from neurarch_schemas.interpreter.budgets import BudgetExceeded
from neurarch_schemas.interpreter.core import Core
from neurarch_schemas.interpreter.libraries import catalogue, transformers
from neurarch_schemas.interpreter.scopes import Frame, assigned_names
from neurarch_schemas.interpreter.values import (
    INSTANCE_TYPES,
    MISSING,
    Builtin,
    LazyImport,
    PythonModule,
    Raised,
    Unknown,
    Value,
)


class Keeper(Protocol):
    def importing(self) -> AbstractContextManager[None]:
        """While the body of a module runs that nobody has imported before."""

    def made(self, module: PythonModule) -> None:
        """A module of ours has been made."""

    def stored(self, module: PythonModule, name: str) -> None:
        """A name that was looked for elsewhere is remembered in the module."""


class Imports(Core):
    importing: int = 0
    """Module bodies being run; what they leave unknown counts where it is used, not here."""
    searching: set[tuple[str, str]]
    """Names being looked for behind star imports, so that circular ones end."""
    keeper: Keeper | None = None
    """Told of what a construction is the first to import."""
    unrepeatable: bool = False
    """The program holds what the same construction would meet differently a second time."""

    def import_module(self, name: str) -> Value:
        """The module. Raises an interpreted ModuleNotFoundError."""
        known = self.modules.get(name)
        if known is not None:
            return known
        ours = catalogue.build(self, name)  # type: ignore[arg-type]  # self is the Machine
        if ours is not None:
            self.modules[name] = ours
            if self.keeper is not None and isinstance(ours, PythonModule):
                self.keeper.made(ours)
            return ours
        if self.eager and "." in name:
            parent = self.import_module(name.rpartition(".")[0])
            if isinstance(parent, PythonModule):
                self.run_module(parent)
            if name in self.modules:
                return self.modules[name]
        found = self.sources.find(name)
        if found is None:
            parent_name, _, last = name.rpartition(".")
            if parent_name:
                parent = self.import_module(parent_name)
                if type(parent) is Unknown:
                    return parent
                if isinstance(parent, PythonModule) and parent.missing is not None:
                    return self.module_attr(parent, last)
            error = self.raised("ModuleNotFoundError", f"No module named '{name}'")
            error.value.attrs["name"] = name
            raise error
        module = self.new_module(name, *found)
        if self.eager:
            self.run_module(module)
            return self.modules[name]
        return module

    def new_module(self, name: str, file: str | None, is_package: bool) -> PythonModule:
        """A module whose file has not run yet."""
        module = PythonModule(name, file, is_package)
        self.modules[name] = module
        namespace = module.namespace
        namespace["__file__"] = file or ""
        namespace["__package__"] = name if is_package else name.rpartition(".")[0]
        namespace["__spec__"] = None
        namespace["__doc__"] = None
        if is_package:
            namespace["__path__"] = [os.path.dirname(file) if file else ""]
        return module

    def exists(self, name: str) -> bool:
        ours = catalogue.provides(self, name)  # type: ignore[arg-type]  # self is the Machine
        return name in self.modules or ours or self.sources.find(name) is not None

    def has_file(self, name: str) -> bool:
        """Whether a module is one of a file that would run."""
        return not catalogue.provides(self, name) and self.sources.find(name.partition(".")[0]) is not None  # type: ignore[arg-type]

    def run_module(self, module: PythonModule) -> None:
        """Execute the module's file once."""
        if module.loading or module.file is None:
            return
        module.loading = True
        self.meter.files += 1
        if self.meter.files > self.meter.budgets.files:
            raise BudgetExceeded(f"more than {self.meter.budgets.files:,} files are imported")
        try:
            tree = self.sources.tree(module.file)
        except SyntaxError as error:
            raise self.raised("SyntaxError", f"{os.path.basename(module.file)}: {error.msg}") from None
        finally:
            self.meter.parse_seconds = self.sources.seconds
        if tree is not None:
            with nullcontext() if self.keeper is None or self.importing else self.keeper.importing():
                try:
                    self.run_tree(module, tree)
                except BaseException:
                    self.unrepeatable = True  # its names are there in part
                    raise
                if module.name.startswith("transformers."):
                    transformers.patch(self, module)  # type: ignore[arg-type]  # self is the Machine

    def run_tree(self, module: PythonModule, tree: ast.Module) -> None:
        frame = Frame(module, None, module.namespace)
        caller, guard = self.frame, self.import_guard
        self.frame = frame
        idle = self.meter.idle_from
        self.meter.idle_from = None
        self.importing += 1
        try:
            for statement in tree.body:
                self._run_statement(statement, frame)
        except Raised:
            # as in Python, a module that fails is not there: whoever asks next runs it anew
            module.loading = False
            if self.modules.get(module.name) is module:
                del self.modules[module.name]
            raise
        finally:
            self.importing -= 1
            self.frame = caller
            self.import_guard = guard
            self.meter.idle_from = None if idle is None else self.meter.steps

    def _run_statement(self, statement: ast.stmt, frame: Frame) -> None:
        """A module-level statement that fails makes what it binds unknown, unless somebody waits for the error."""
        try:
            self.execute([statement], frame)
        except Raised as error:
            if self.import_guard > 0 and self.is_instance(error.value, self.builtins["ImportError"]) is True:
                raise
            reason = f"{self.describe(error)}"
            for name in assigned_names([statement]):
                frame.locals.setdefault(name, Unknown(reason))

    # statements

    def import_statement(self, node: ast.Import | ast.ImportFrom, frame: Frame) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                self._import(alias, frame)
            return
        source = self._absolute(node, frame)
        if source == "__future__":
            return
        for alias in node.names:
            if alias.name == "*":
                self._import_star(source, frame)
                continue
            target = alias.asname or alias.name
            lazy = LazyImport(source, alias.name)
            if self.import_guard > 0 or self.eager:
                frame.locals[target] = lazy
                self.resolve(lazy, frame.locals, target)
            else:
                frame.locals[target] = lazy

    def _import(self, alias: ast.alias, frame: Frame) -> None:
        name = alias.name
        if self.import_guard > 0 and not self.exists(name):
            error = self.raised("ModuleNotFoundError", f"No module named '{name}'")
            error.value.attrs["name"] = name
            raise error
        if alias.asname is not None:
            frame.locals[alias.asname] = LazyImport(name, None)
            return
        top = name.partition(".")[0]
        frame.locals[top] = LazyImport(top, None)
        if self.eager:
            self.resolve(LazyImport(name, None), {}, name)

    def _absolute(self, node: ast.ImportFrom, frame: Frame) -> str:
        if not node.level:
            return node.module or ""
        package = str(frame.module.namespace.get("__package__", ""))
        parts = package.split(".") if package else []
        if node.level > len(parts) and frame.module.file is not None:
            parts = self._folder_parts(frame.module.file, node.level)
        elif node.level > 1:
            parts = parts[: len(parts) - (node.level - 1)]
        if node.module:
            parts.append(node.module)
        return ".".join(parts)

    def _folder_parts(self, file: str, level: int) -> list[str]:
        """The package that a relative import climbs to from a folder without ``__init__.py``, by its place."""
        folder = file
        for _ in range(level):
            folder = os.path.dirname(folder)
        for root in self.sources.search_paths:
            if folder.startswith(root.rstrip("/") + "/"):
                return os.path.relpath(folder, root).split("/")
        return []

    def _import_star(self, source: str, frame: Frame) -> None:
        if not self.exists(source) and self.import_guard > 0:
            self.fail("ModuleNotFoundError", f"No module named '{source}'")
        frame.module.stars.append(source)
        if self.eager:
            try:
                module = self.import_module(source)
            except Raised:
                if self.import_guard > 0:
                    raise
                return
            if isinstance(module, PythonModule):
                for name in self.public_names(module):
                    value = self.module_attr(module, name)
                    if value is not MISSING:
                        frame.locals[name] = value

    def public_names(self, module: PythonModule) -> list[str]:
        self.run_module(module)
        listed = module.namespace.get("__all__")
        if isinstance(listed, list | tuple):
            return [name for name in listed if isinstance(name, str)]
        names = [name for name in module.namespace if not name.startswith("_")]
        for star in module.stars:
            source = self._try_import(star)
            if isinstance(source, PythonModule):
                names.extend(self.public_names(source))
        return names

    def _try_import(self, name: str) -> Value:
        try:
            return self.import_module(name)
        except Raised:
            return None

    # names

    def resolve(self, lazy: Value, namespace: dict[str, Value], name: str) -> Value:
        if lazy.__class__ is not LazyImport:
            return lazy
        key = (lazy.module, f"import {lazy.attribute}")
        try:
            if lazy.attribute is None:
                value = self.import_module(lazy.module)
            elif key in self.searching:
                value = self._circular(lazy)
            else:
                self.searching.add(key)
                try:
                    value = self._from(self.import_module(lazy.module), lazy.module, lazy.attribute)
                finally:
                    self.searching.discard(key)
        except Raised as error:
            if self.import_guard > 0 or error.value.cls.name not in ("ModuleNotFoundError", "ImportError"):
                if self.import_guard > 0:
                    namespace.pop(name, None)
                elif namespace.get(name) is lazy:
                    namespace[name] = Unknown(self.describe(error))
                raise
            package = lazy.module.partition(".")[0]
            if self.sources.find(package) is None:
                value = Unknown(f"the package {package} is not installed", data=package in catalogue.DATA_ONLY)
            else:
                value = Unknown(f"{lazy.module} has no {lazy.attribute or 'such module'}")
        if namespace.get(name) is lazy:
            namespace[name] = value
            lazy.found = value  # type: ignore[union-attr]  # the class is looked at above
        return value

    def _circular(self, lazy: LazyImport) -> Value:
        """A name that is being looked for already: what its module has bound so far, else a submodule."""
        module = self.import_module(lazy.module)
        name = str(lazy.attribute)
        if isinstance(module, PythonModule):
            bound = module.namespace.get(name, MISSING)
            if bound.__class__ is LazyImport:
                key = (bound.module, f"import {bound.attribute}")
                if key not in self.searching:
                    return self.resolve(bound, module.namespace, name)
            elif bound is not MISSING:
                return bound
        return self.import_module(f"{lazy.module}.{name}")

    def _from(self, module: Value, name: str, attribute: str) -> Value:
        if not isinstance(module, PythonModule):
            return self.get_attr(module, attribute)
        value = self.module_attr(module, attribute)
        if value is MISSING:
            self.fail("ImportError", f"cannot import name '{attribute}' from '{name}'")
        return value

    def module_attr(self, module: PythonModule, name: str) -> Value:
        namespace = module.namespace
        if name not in namespace and not module.loading:
            self.run_module(module)
            replaced = self.modules.get(module.name)
            if replaced is not module and replaced is not None:
                found = self.find_attr(replaced, name)
                if found is not MISSING:
                    return found
        if name in namespace:
            value = namespace[name]
            if value.__class__ is LazyImport:
                return self.resolve(value, namespace, name)
            return value
        dotted = f"{module.name}.{name}"
        if module.missing is None:
            if module.is_package and module.stars and (dotted in self.modules or self.sources.find(dotted) is not None):
                return self.import_module(dotted)
            if module.name == "transformers":
                value = transformers.model_module(self, module, name)  # type: ignore[arg-type]
                if value is not MISSING:
                    self._store(module, name, value)
                    return value
            value = self._star_name(module, name)
            if value is not MISSING:
                return value
            getter = namespace.get("__getattr__")
            if getter is not None and not name.startswith("__"):
                try:
                    return self.call(getter, [name], {})
                except Raised as error:
                    if error.value.cls.name != "AttributeError":
                        raise
        if name == "__dict__":
            for key in list(namespace):
                self.resolve(namespace[key], namespace, key)
            if module.stars:
                for key in self.public_names(module):
                    self.module_attr(module, key)
            return namespace
        if name == "__class__":
            return self.type_of(module)
        if name == "__getattribute__":
            return Builtin(name, lambda machine, key: machine.get_attr(module, key))
        if name == "__file__" and module.file is None:
            return Unknown(f"the file of {module.name}", data=True)
        if module.cls is not None:
            found = module.cls.lookup(name)
            if found is not MISSING:
                return self.bind(found, module, module.cls)
        if dotted in self.modules:
            return self.modules[dotted]
        if catalogue.is_submodule(dotted) if module.missing is not None else module.is_package and self.exists(dotted):
            return self.import_module(dotted)
        return MISSING if module.missing is None or name.startswith("__") else module.missing(name)

    def _star_name(self, module: PythonModule, name: str) -> Value:
        if not module.stars:
            return MISSING
        searching: set[tuple[str, str]] = self.searching
        if (module.name, name) in searching:
            return MISSING
        searching.add((module.name, name))
        try:
            return self._search_stars(module, name)
        finally:
            searching.discard((module.name, name))

    def _search_stars(self, module: PythonModule, name: str) -> Value:
        for source in self._likely_first(module, name):
            found = self._try_import(source)
            if isinstance(found, PythonModule):
                if not self._may_define(found, name):
                    continue
                value = self.module_attr(found, name)
                if value is not MISSING and not (found.missing is not None and type(value) is Unknown):
                    listed = found.namespace.get("__all__")
                    if isinstance(listed, list | tuple) and name not in listed and found.missing is None:
                        continue
                    self._store(module, name, value)
                    return value
            elif found.__class__ in INSTANCE_TYPES:
                value = self.find_attr(found, name)
                if value is not MISSING:
                    return value
        return MISSING

    def _likely_first(self, module: PythonModule, name: str) -> list[str]:
        """The star imports of a module, the last first. In a table of lazy imports, where each name has one home, first
        the packages that the name begins with: ``LlamaModel`` is at home in ``.llama``."""
        stars = module.stars[::-1]
        text = self.sources.text(module.file) if module.file is not None else None
        if text is None or "_LazyModule" not in text:
            return stars
        lowered = name.lower()
        return sorted(stars, key=lambda each: not lowered.startswith(each.rpartition(".")[2].replace("_", "")))

    def _store(self, module: PythonModule, name: str, value: Value) -> None:
        module.namespace[name] = value
        if self.keeper is not None:
            self.keeper.stored(module, name)

    def _may_define(self, module: PythonModule, name: str) -> bool:
        """A cheap look at the text before a file is run for one name."""
        if module.file is None or module.loading:
            return True
        text = self.sources.text(module.file)
        if text is None or "import *" in text or "__getattr__" in text or "_LazyModule" in text:
            return True
        return name in text and (not name.isidentifier() or _binding(name).search(text) is not None)

    def load_global(self, module: PythonModule, name: str) -> Value:
        namespace = module.namespace
        if name in namespace:
            value = namespace[name]
            if value.__class__ is LazyImport:
                return self.resolve(value, namespace, name)
            return value
        if name in self.builtins:
            return self.builtins[name]
        if module.stars:
            value = self._star_name(module, name)
            if value is not MISSING:
                return value
            for star in module.stars:
                if self._try_import(star) is None:
                    return Unknown(f"{star} cannot be imported")
        return MISSING


__all__ = ["Imports"]


@lru_cache(maxsize=512)
def _binding(name: str) -> re.Pattern[str]:
    """Where a text may bind a name: definitions, assignments, imports, loops, and whatever writes names by text."""
    return re.compile(
        rf"^\s*(?:class|(?:async\s+)?def)\s+{name}\b|\b{name}\b[^=\n]*(?<![=!<>])=(?!=)|\bimport\b[^\n]*\b{name}\b"
        rf"|^\s+{name}\s*,?\s*\)?\s*(?:#.*)?$|\b(?:as|for)\s+{name}\b|\bglobals\(|\bsetattr\(|\bsys\.modules\b",
        re.MULTILINE,
    )
