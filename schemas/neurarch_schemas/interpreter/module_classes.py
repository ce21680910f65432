"""The module classes a file defines, and which construction of each is shown.

In this order: its defaults, where every argument has one; a call found in the file (at module level, under
``if __name__``, in a test or a main function); a line ``# neurarch: GPT(GPTConfig(n_layer=24))``; its single missing
argument made from the config.json beside the file, where that speaks of it; an instance of the configuration class
that argument is annotated with. Else the first missing argument is the reason.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from typing import Literal

from neurarch_schemas.interpreter.budgets import REPORT, BudgetExceeded, Budgets
from neurarch_schemas.interpreter.machine import Machine
from neurarch_schemas.interpreter.session import Session, located
from neurarch_schemas.interpreter.sibling_config import read_sibling, sibling_argument
from neurarch_schemas.interpreter.sources import SourceCache
from neurarch_schemas.interpreter.torch_nn.base import module_class
from neurarch_schemas.interpreter.values import MISSING, Builtin, Class, Function, PythonModule, Raised, UnknownTruth

Source = Literal["defaults", "file", "comment", "config.json", "annotation"]
_COMMENT = re.compile(r"^[ \t]*#[ \t]*neurarch:[ \t]*(.+?)[ \t]*$", re.M)
_LONGEST = 2000


@dataclass(frozen=True, slots=True)
class ModuleClass:
    """``construction`` is an expression for ``interpret``, or None with a reason."""

    name: str
    line: int
    construction: str | None
    reason: str | None
    source: Source | None = None


def module_classes(
    path_or_text: str,
    search_paths: Sequence[str] = (),
    *,
    path: str | None = None,
    cache: SourceCache | None = None,
    budgets: Budgets | None = None,
) -> tuple[ModuleClass, ...]:
    """Classes that derive from ``torch.nn.Module``, in the order of the file. Empty where the file cannot be parsed.

    One whose base is not known (its package is not installed) is listed with that reason where it looks like a module.
    Where the file's own statements exceed the budgets, no class has a construction, and that is the reason.
    """
    place, overlay = located(path_or_text, path)
    return described(Session(place, overlay, search_paths, budgets or REPORT, cache or SourceCache()))


def described(session: Session) -> tuple[ModuleClass, ...]:
    """As ``module_classes``, of the session's file, which runs for it."""
    loaded = session.load_file()
    if loaded is None:
        return ()
    machine, module, tree, text, unfinished = loaded
    if unfinished is not None:
        reason = f"the file's own statements cannot be followed to their end: {unfinished}"
        return tuple(ModuleClass(node.name, node.lineno, None, reason) for node in _named_modules(tree))
    base = module_class(machine)
    file = _File(machine, module, tree, text)
    found: list[ModuleClass] = []
    named = {node.name for node in _named_modules(tree)}
    for statement in tree.body:
        if not isinstance(statement, ast.ClassDef):
            continue
        cls = module.namespace.get(statement.name)
        if not isinstance(cls, Class) or cls.node is not statement:
            continue
        if base in cls.mro:
            found.append(_describe(file, cls, statement))
            continue
        unknown = next((each.unknown_base for each in cls.mro if each.unknown_base is not None), None)
        if unknown is not None and not unknown.data and (cls.name in named or cls.lookup("forward") is not MISSING):
            found.append(ModuleClass(cls.name, statement.lineno, None, unknown.reason))
    return tuple(found)


def _named_modules(tree: ast.Module) -> Iterator[ast.ClassDef]:
    """Classes that derive from a module class, by the names of their bases."""
    names = {"Module", "LightningModule", "PreTrainedModel"}
    for statement in tree.body:
        if isinstance(statement, ast.ClassDef) and any(
            (base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", None)) in names
            for base in statement.bases
        ):
            names.add(statement.name)
            yield statement


class _File:
    """A file's module after its body has run, with what is looked through for each of its classes."""

    def __init__(self, machine: Machine, module: PythonModule, tree: ast.Module, text: str) -> None:
        self.machine = machine
        self.module = module
        self.sibling = read_sibling(machine, module)
        self.comments: list[str] = _COMMENT.findall(text)
        self.names = frozenset(module.namespace)
        self.blocks = _blocks(tree)
        self._makeable: dict[str, bool] = {}

    def makes(self, name: str) -> bool:
        """Whether a name is that of a class that can be made without arguments; tried once for all who ask."""
        known = self._makeable.get(name)
        if known is None:
            known = self._makeable[name] = _makes(self.machine, self.module, name)
        return known


def _describe(file: _File, cls: Class, node: ast.ClassDef) -> ModuleClass:
    required = _required(cls)
    if not required:
        return ModuleClass(cls.name, node.lineno, f"{cls.name}()", None, "defaults")
    for construction in _calls(file.blocks, cls.name, file.names):
        return ModuleClass(cls.name, node.lineno, construction, None, "file")
    for comment in file.comments:
        if re.search(rf"\b{cls.name}\(", comment):
            return ModuleClass(cls.name, node.lineno, comment, None, "comment")
    missing, annotated = required[0].arg, _annotated(required[0].annotation)
    keyword = f"{missing}=" if _is_keyword_only(cls, missing) else ""
    if len(required) == 1:
        if file.sibling is not None:
            argument = sibling_argument(file.machine, file.module, file.sibling, annotated, missing)
            if argument is not None:
                construction = f"import json; {cls.name}({keyword}{argument})"
                return ModuleClass(cls.name, node.lineno, construction, None, "config.json")
        if annotated is not None and file.makes(annotated):
            return ModuleClass(cls.name, node.lineno, f"{cls.name}({keyword}{annotated}())", None, "annotation")
    return ModuleClass(cls.name, node.lineno, None, f"{cls.name}() needs the argument '{missing}'")


def _is_keyword_only(cls: Class, name: str) -> bool:
    initializer = cls.lookup("__init__")
    return isinstance(initializer, Function) and any(each.arg == name for each in initializer.node.args.kwonlyargs)


def _required(cls: Class) -> list[ast.arg]:
    initializer = cls.lookup("__init__")
    if isinstance(initializer, Builtin):
        return [ast.arg(name) for name in _required_of_layer(initializer)]
    if not isinstance(initializer, Function):
        return []
    arguments = initializer.node.args
    positional = [*arguments.posonlyargs, *arguments.args][1:]
    without_default = positional[: len(positional) - len(initializer.defaults)] if initializer.defaults else positional
    return [*without_default, *(each for each in arguments.kwonlyargs if each.arg not in initializer.kwdefaults)]


def _required_of_layer(initializer: Builtin) -> tuple[str, ...]:
    """What a layer of torch's needs: the function behind it takes the machine and the instance first."""
    function = getattr(initializer.function, "__wrapped__", initializer.function)
    code = getattr(function, "__code__", None)
    if code is None:
        return ()
    return tuple(code.co_varnames[2 : code.co_argcount - len(function.__defaults__ or ())])


def _annotated(annotation: ast.expr | None) -> str | None:
    """The name an argument is annotated with."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        return annotation.value
    return annotation.id if isinstance(annotation, ast.Name) else None


def _makes(machine: Machine, module: PythonModule, name: str) -> bool:
    """Whether a class of that name, none of the host's or torch's, can be made without arguments."""
    try:
        cls = machine.load_global(module, name) if name.isidentifier() else MISSING
        if not isinstance(cls, Class) or cls.native is not None or cls.module in ("builtins", "torch", "torch.nn"):
            return False
        machine.call(cls, [], {})
    except (Raised, UnknownTruth, BudgetExceeded):
        return False
    return True


_Blocks = list[list[tuple[ast.stmt, list[tuple[str, ast.Call]]]]]
"""The statements of each place where calls show a use, with the calls of plain names in them."""


def _blocks(tree: ast.Module) -> _Blocks:
    return [
        [
            (
                statement,
                [
                    (each.func.id, each)
                    for each in ast.walk(statement)
                    if isinstance(each, ast.Call) and isinstance(each.func, ast.Name)
                ],
            )
            for statement in body
        ]
        for body in _places(tree.body)
    ]


def _calls(blocks: _Blocks, name: str, known: Set[str]) -> Iterator[str]:
    """Constructions of a class in the file, with the simple assignments they need before them."""
    for block in blocks:
        assigned: dict[str, ast.stmt] = {}
        for statement, calls in block:
            for called, call in calls:
                if called == name:
                    before = _needed(call, assigned, known, 0)
                    if before is not None:
                        text = "; ".join([*(ast.unparse(each) for each in before), ast.unparse(call)])
                        if len(text) <= _LONGEST:
                            yield text
            if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
                target = statement.targets[0]
                if isinstance(target, ast.Name):
                    assigned[target.id] = statement


def _places(body: list[ast.stmt]) -> Iterator[list[ast.stmt]]:
    """Blocks whose calls show a use: the module's own, ``if __name__``, tests and main functions."""
    yield [each for each in body if isinstance(each, ast.Assign | ast.Expr | ast.AnnAssign)]
    for statement in body:
        if (isinstance(statement, ast.If) and "__name__" in ast.unparse(statement.test)) or (
            isinstance(statement, ast.FunctionDef)
            and (statement.name.startswith("test") or statement.name in ("main", "demo", "example", "run"))
        ):
            yield statement.body


def _needed(node: ast.expr, assigned: dict[str, ast.stmt], known: Set[str], depth: int) -> list[ast.stmt] | None:
    """Assignments that give the names of an expression; None where one comes from elsewhere."""
    if depth > 8:
        return None
    needed: list[ast.stmt] = []
    inner = {each.arg for each in ast.walk(node) if isinstance(each, ast.arg)}
    inner |= {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    for each in ast.walk(node):
        if not isinstance(each, ast.Name) or each.id in inner:
            continue
        statement = assigned.get(each.id)
        if isinstance(statement, ast.Assign):
            before = _needed(statement.value, {k: v for k, v in assigned.items() if k != each.id}, known, depth + 1)
            if before is None:
                return None
            needed.extend(item for item in [*before, statement] if item not in needed)
        elif each.id not in known and not hasattr(builtins, each.id):
            return None
    return needed
