"""Frames, and the few facts about a function that its text decides: global and nonlocal names, whether it yields."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from neurarch_schemas.interpreter.lazy_functions import LazyFunction
from neurarch_schemas.interpreter.values import PythonModule, Value

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.values import Class, Function

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class Frame:
    """One activation: a module, a class body, a function call or a comprehension.

    ``parent`` is the enclosing frame; class bodies are not looked through by the functions in them.
    """

    __slots__ = (
        "caller",
        "class_cell",
        "function",
        "global_names",
        "is_class",
        "line",
        "locals",
        "module",
        "nonlocals",
        "parent",
    )

    def __init__(self, module: PythonModule, parent: Frame | None, variables: dict[str, Value]) -> None:
        self.module = module
        self.parent = parent
        self.locals = variables
        self.is_class = False
        self.class_cell: Class | None = None
        self.function: Function | None = None
        self.global_names: frozenset[str] | None = None
        self.nonlocals: frozenset[str] | None = None
        self.line = 0
        self.caller: Frame | None = None
        """The frame that called this one, for programs that look at the stack."""


class Parameters(NamedTuple):
    """The names of a function's parameters."""

    positional: tuple[str, ...]
    by_keyword: frozenset[str]
    """Those that may be given by name."""
    keyword_only: tuple[str, ...]
    rest: str | None
    """``*args``"""
    options: str | None
    """``**kwargs``"""


class FunctionFacts:
    """What the text of a function says about it; worked out at the first call."""

    __slots__ = ("global_names", "nonlocals", "parameters", "yields")

    def __init__(
        self,
        parameters: Parameters,
        yields: bool = False,
        global_names: frozenset[str] | None = None,
        nonlocals: frozenset[str] | None = None,
    ) -> None:
        self.parameters = parameters
        self.yields = yields
        self.global_names = global_names
        self.nonlocals = nonlocals


_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def function_facts(node: FunctionNode) -> FunctionFacts:
    """Remembered on the node, which lives as long as the parsed file."""
    known: FunctionFacts | None = getattr(node, "_facts", None)
    if known is None:
        known = node._facts = _facts(node)  # type: ignore[union-attr]  # our own mark on the node
    return known


def _facts(node: FunctionNode) -> FunctionFacts:
    parameters = _parameters(node.args)
    if isinstance(node, LazyFunction) and not node.speaks_of("yield", "global", "nonlocal"):
        return FunctionFacts(parameters)
    yields = False
    global_names: set[str] = set()
    nonlocals: set[str] = set()
    for each in _own_nodes(node):
        kind = each.__class__
        if kind is ast.Yield or kind is ast.YieldFrom:
            yields = True
        elif kind is ast.Global:
            global_names.update(each.names)  # type: ignore[attr-defined]  # kind says which node it is
        elif kind is ast.Nonlocal:
            nonlocals.update(each.names)  # type: ignore[attr-defined]
    return FunctionFacts(parameters, yields, frozenset(global_names) or None, frozenset(nonlocals) or None)


def _parameters(arguments: ast.arguments) -> Parameters:
    named = [each.arg for each in arguments.args]
    keyword_only = [each.arg for each in arguments.kwonlyargs]
    return Parameters(
        (*(each.arg for each in arguments.posonlyargs), *named),
        frozenset((*named, *keyword_only)),
        tuple(keyword_only),
        None if arguments.vararg is None else arguments.vararg.arg,
        None if arguments.kwarg is None else arguments.kwarg.arg,
    )


def names_class(node: FunctionNode) -> bool:
    """Whether a function speaks of its class, which it can then tell among its variables."""
    return any(isinstance(each, ast.Name) and each.id in ("super", "__class__") for each in _own_nodes(node))


def _own_nodes(node: FunctionNode) -> Iterator[ast.AST]:
    """The nodes of a body, those of functions and classes in it left aside."""
    pending: list[ast.AST] = [node.body] if isinstance(node, ast.Lambda) else list(node.body)
    while pending:
        each = pending.pop()
        yield each
        if each.__class__ not in _SCOPES:
            for value in vars(each).values():
                if isinstance(value, ast.AST):
                    pending.append(value)
                elif value.__class__ is list:
                    pending += [item for item in value if isinstance(item, ast.AST)]


def assigned_names(body: list[ast.stmt]) -> set[str]:
    """Names a block of statements binds in its own scope."""
    names: set[str] = set()
    pending: list[ast.AST] = list(body)
    while pending:
        each = pending.pop()
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
            names.add(each.id)
        elif isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(each.name)
            continue
        pending.extend(ast.iter_child_nodes(each))
    return names


def leaves_early(loop: ast.For | ast.AsyncFor) -> bool:
    """Whether anything written in the body may end the loop before its last round (a called function may raise)."""
    return any(
        isinstance(each, ast.Break | ast.Return | ast.Raise | ast.Assert | ast.Yield | ast.YieldFrom)
        for statement in loop.body
        for each in ast.walk(statement)
    )
