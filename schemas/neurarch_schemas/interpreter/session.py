"""Constructions in one file: run each, again where a condition is undecided, and say how sure the answer is."""

from __future__ import annotations

import ast
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from neurarch_schemas.interpreter.budgets import BudgetExceeded, Budgets, Meter, overdue
from neurarch_schemas.interpreter.kept import Kept
from neurarch_schemas.interpreter.libraries.catalogue import TABLES_FILLED
from neurarch_schemas.interpreter.machine import Machine, Site
from neurarch_schemas.interpreter.project import folders_above
from neurarch_schemas.interpreter.scopes import Frame
from neurarch_schemas.interpreter.sources import SourceCache, Sources, rare_collections
from neurarch_schemas.interpreter.to_tree import convert
from neurarch_schemas.interpreter.values import Instance, LazyImport, PythonModule, Raised, Unknown, UnknownTruth, Value
from neurarch_schemas.modules.tree import Module

_RECURSION = 24_000
_MOST_SITES = 6
"""Undecided conditions whose other side is tried too."""


@dataclass(frozen=True, slots=True)
class Place:
    """The line a submodule was registered at."""

    file: str
    line: int


@dataclass(frozen=True)
class Interpretation:
    """``exact`` needs a tree and no doubt; ``reason`` is one sentence, for a person."""

    tree: Module | None
    exact: bool
    reason: str | None
    missing_argument: tuple[str, str] | None = None
    """The function and the parameter, where a call lacks one."""
    lazy: bool = False
    """Some parameter has no shape before the first forward pass."""
    steps: int = 0
    places: Mapping[str, Place] = field(default_factory=dict)
    """Path of a submodule (list indices as ``{}``) -> where it is registered."""
    value: str | None = None
    """What the expression gives, where that is no module."""
    incomplete: bool = False
    """Something in the tree has no known shape, or may be missing from it: a count is a lower bound."""


class LoadedFile(NamedTuple):
    """A file's module after its body has run; ``unfinished`` is the reason where a budget ended that before its end."""

    machine: Machine
    module: PythonModule
    tree: ast.Module
    text: str
    unfinished: str | None


def located(path_or_text: str, path: str | None) -> tuple[str, dict[str, str]]:
    """The absolute path of a file, and by path the text that stands for what it holds."""
    if path is None and "\n" not in path_or_text:
        return os.path.abspath(path_or_text), {}
    path = os.path.abspath(path or "untitled.py")
    return path, {path: path_or_text}


def module_name(path: str) -> tuple[str, str]:
    """The import root (the first folder above without ``__init__.py``) and the dotted name below it."""
    folder, file = os.path.split(path)
    parts = [] if file == "__init__.py" else [file.removesuffix(".py")]
    while os.path.isfile(os.path.join(folder, "__init__.py")) and os.path.basename(folder).isidentifier():
        folder, name = os.path.split(folder)
        parts.insert(0, name)
    return folder, ".".join(parts)


@contextmanager
def _room() -> Iterator[None]:
    """Interpreted calls nest several host calls each."""
    before = sys.getrecursionlimit()
    if before < _RECURSION:
        sys.setrecursionlimit(_RECURSION)
    try:
        with rare_collections():
            yield
    finally:
        sys.setrecursionlimit(before)


@dataclass
class _Run:
    """One evaluation."""

    tree: Module | None = None
    reasons: list[str] = field(default_factory=list)
    branches: dict[Site, tuple[str, bool]] = field(default_factory=dict)
    failure: str | None = None
    exceeded: bool = False
    missing: tuple[str, str] | None = None
    imports_matter: bool = True
    """Modules that have not run yet may have told others of themselves."""
    lazy: bool = False
    steps: int = 0
    places: dict[str, Place] = field(default_factory=dict)
    value: str | None = None
    incomplete: bool = False


class Session:
    """With ``keep`` the file's module runs once for all constructions, as long as none of them changes it.

    ``budgets`` hold for each construction.
    """

    def __init__(
        self,
        path: str,
        overlay: dict[str, str],
        search_paths: Sequence[str],
        budgets: Budgets,
        cache: SourceCache,
        variables: Mapping[str, object] | None = None,
        keep: bool = False,
    ) -> None:
        root, self.name = module_name(path)
        self.path = path
        self.overlay = overlay
        given = (os.path.abspath(each) for each in search_paths)
        self.project = (root, *folders_above(root))
        self.search_paths = tuple(dict.fromkeys((*self.project, *given)))
        self.budgets = budgets
        self.cache = cache
        self.variables = variables or {}
        self.deadline = time.monotonic() + budgets.total_seconds
        """All runs of one construction together."""
        self.keep = keep
        self.kept: dict[bool, Kept] = {}
        """Programs that have run the file already, by eagerness."""
        self.lost = self._repair()
        """Lines of the file that are broken and left out."""

    def _repair(self) -> tuple[int, ...]:
        text = self.overlay.get(self.path)
        text = self.cache.text(self.path) if text is None else text
        try:
            if text is not None:
                self.cache.tree(text)
        except SyntaxError:
            from neurarch_schemas.interpreter.repair import repair

            self.overlay[self.path], lost = repair(text or "")
            return lost
        return ()

    def load_file(self) -> LoadedFile | None:
        """The file's module, run. None where the file cannot be read or parsed."""
        machine = self._machine(Meter(self.budgets))
        text = machine.sources.text(self.path)
        try:
            tree = machine.sources.tree(self.path)
            if tree is None or text is None:
                return None
            module = self._module(machine)
            unfinished = None
            with _room():
                try:
                    machine.run_module(module)
                    if self.keep:
                        self.kept[False] = Kept(machine, module)
                except BudgetExceeded as error:
                    unfinished = str(error)
                except RecursionError:
                    unfinished = "the program nests too deeply"
            return LoadedFile(machine, module, tree, text, unfinished)
        except (SyntaxError, Raised, UnknownTruth):
            return None

    def answer(self, construction: str) -> Interpretation:
        """What an expression gives in the file's namespace. Never raises on user input."""
        try:
            body = ast.parse(construction.replace("; ", "\n") if _joined(construction) else construction).body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            return Interpretation(None, False, f"the construction cannot be parsed: {getattr(error, 'msg', error)}")
        if not body or not isinstance(body[-1], ast.Expr):
            return Interpretation(None, False, "the construction does not end in an expression")
        self.deadline = time.monotonic() + self.budgets.total_seconds
        eager = False
        first = self._run(body, {}, eager)
        if (
            not first.exceeded
            and (first.failure or first.reasons or (first.tree is None and first.value is None))
            and not first.missing
            and first.imports_matter
        ):
            again = self._run(body, {}, eager=True)
            if (not again.failure and len(again.reasons) < max(1, len(first.reasons))) or (
                first.failure and not again.failure
            ):
                first, eager = again, True
        if first.failure is None and first.tree is not None and first.branches:
            self._try_other_sides(body, first, eager)
        reasons = first.reasons
        if self.lost:
            reasons.append(f"line {self.lost[0]} cannot be read right now and is left out")
        reason = first.failure or (reasons[0] if reasons else None)
        if first.tree is None and reason is None:
            reason = f"the construction gives {first.value}, not a module"
        exact = first.tree is not None and reason is None
        return Interpretation(
            first.tree if first.failure is None else None,
            exact,
            reason,
            first.missing,
            first.lazy,
            first.steps,
            first.places,
            first.value,
            first.incomplete,
        )

    def _try_other_sides(self, body: list[ast.stmt], first: _Run, eager: bool) -> None:
        """A condition nobody can decide does no harm where both sides build the same tensors."""
        if len(first.branches) > _MOST_SITES:
            reason, _ = next(iter(first.branches.values()))
            first.reasons.append(f"{len(first.branches)} conditions depend on unknown values, the first on {reason}")
            return
        for site, (reason, chosen) in first.branches.items():
            other = self._run(body, {site: not chosen}, eager)
            if other.failure is not None or other.tree != first.tree:
                where = f"{os.path.basename(site[0])}:{site[1]}"
                first.reasons.append(f"a condition at {where} depends on an unknown value: {reason}")

    def _run(self, body: list[ast.stmt], decisions: dict[Site, bool], eager: bool) -> _Run:
        run = _Run()
        machine: Machine | None = None
        if time.monotonic() > self.deadline:
            run.failure, run.exceeded = overdue(self.budgets), True
            return run
        meter = Meter(self.budgets, self.deadline)
        with _room():
            # what ends without an answer may have left anything behind
            kept = self.kept.pop(eager, None)
            try:
                if kept is not None and not kept.restored():
                    kept = None
                if kept is not None and kept.take(meter, decisions):
                    machine, module = kept.machine, kept.module
                else:
                    machine = self._machine(meter, decisions, eager)
                    module = self._load(machine)
                    kept = Kept(machine, module) if self.keep and not decisions else None
                self._evaluate(machine, module, body, run, kept)
            except Raised as error:
                run.failure = machine.describe(error) if machine is not None else "an error"
                run.missing = error.value.attrs.get("<missing argument>")
                if machine is not None and machine.taints and not run.missing:
                    # an error after something that could not be told is most often its consequence
                    run.failure = f"{machine.taints[0]}; then {run.failure}"
            except UnknownTruth as error:
                run.failure = error.unknown.reason
            except BudgetExceeded as error:
                run.failure, run.exceeded = str(error), True
            except RecursionError:
                run.failure, run.exceeded = "the program nests too deeply", True
            except MemoryError:
                run.failure, run.exceeded = "the program needs too much memory", True
            if kept is not None and (not run.exceeded or machine is not kept.machine) and kept.restored():
                self.kept[eager] = kept
                if kept.memo.was_misled(kept.was_changed):
                    return self._run(body, decisions, eager)
        if machine is not None:
            run.steps = machine.meter.steps
            run.branches = machine.branches
            run.imports_matter = self._imports_matter(machine)
        return run

    def _imports_matter(self, machine: Machine) -> bool:
        """Whether running all imports at once, as Python does, may give a construction more than running some."""
        for name, module in machine.modules.items():
            if not isinstance(module, PythonModule) or module.file is None or _is_filled(name):
                continue
            if name != self.name or "." in name or module.stars:
                return True
            for value in module.namespace.values():
                if value.__class__ is LazyImport and not _is_filled(value.module) and machine.has_file(value.module):
                    return True
        return False

    def _machine(self, meter: Meter, decisions: dict[Site, bool] | None = None, eager: bool = False) -> Machine:
        return Machine(Sources(self.search_paths, self.cache, self.overlay, self.project), meter, decisions, eager)

    def _load(self, machine: Machine) -> PythonModule:
        """The module of the session's file, run."""
        parent = self.name.rpartition(".")[0]
        if machine.eager and parent:
            machine.import_module(parent)
        module = self._module(machine)
        machine.run_module(module)
        return module

    def _module(self, machine: Machine) -> PythonModule:
        """The same before it is run."""
        module = machine.modules.get(self.name)
        if not isinstance(module, PythonModule) or module.file != self.path:
            module = machine.new_module(self.name, self.path, os.path.basename(self.path) == "__init__.py")
        return module

    def _evaluate(
        self, machine: Machine, module: PythonModule, body: list[ast.stmt], run: _Run, kept: Kept | None
    ) -> None:
        frame = Frame(module, None, {**self.variables})
        machine.frame = frame
        machine.state["folder"] = os.path.dirname(self.path)
        machine.meter.idle_from = machine.meter.steps
        if body[:-1]:
            machine.execute(body[:-1], frame)
        last = body[-1]
        assert isinstance(last, ast.Expr)
        frame.line = 0
        construction = last.value
        if kept is not None and not body[:-1] and not machine.decisions:
            construction = kept.prototypes.fill_in(construction, frame)
        value = machine.evaluate(construction, frame)
        self._judge(machine, value, run)

    def _judge(self, machine: Machine, value: Value, run: _Run) -> None:
        if type(value) is Unknown:
            run.reasons.append(value.reason)
            run.reasons.extend(machine.taints)
            return
        if not machine.is_module(value):
            base = value.cls.unknown_base if isinstance(value, Instance) else None
            if base is not None:
                run.reasons.append(f"{value.cls.name} derives from a class that is unknown: {base.reason}")
            run.value = f"a {machine.type_of(value).name}"
            return
        tree, conversion = convert(machine, value)
        run.tree = tree
        run.lazy = conversion.lazy
        run.incomplete = bool(conversion.problems)
        run.places = {path: Place(file, line) for path, (file, line) in conversion.places.items()}
        run.reasons.extend(machine.taints)
        run.reasons.extend(conversion.problems)


def _is_filled(name: str) -> bool:
    """Whether a module is of a library that fills its tables where it defines them, so that no import adds to them."""
    return name.partition(".")[0] in TABLES_FILLED


def _joined(expression: str) -> bool:
    """Whether "; " separates statements: it does unless it stands in a string."""
    try:
        ast.parse(expression)
    except SyntaxError:
        return True
    return False
