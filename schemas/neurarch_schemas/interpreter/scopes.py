"""Frames, and the few facts about a function that its text decides: global and nonlocal names, whether it yields."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

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


class FunctionFacts:
    """What the body of a function says about it; worked out at the first call."""

    __slots__ = ("global_names", "names_class", "nonlocals", "yields")

    def __init__(
        self,
        yields: bool,
        names_class: bool,
        global_names: frozenset[str] | None,
        nonlocals: frozenset[str] | None,
    ) -> None:
        self.yields = yields
        self.names_class = names_class
        self.global_names = global_names
        self.nonlocals = nonlocals


_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def function_facts(node: FunctionNode) -> FunctionFacts:
    """Remembered on the node, which lives as long as the parsed file."""
    known = getattr(node, "_facts", None)
    if known is None:
        yields = False
        names_class = False
        global_names: set[str] = set()
        nonlocals: set[str] = set()
        pending: list[ast.AST] = [node.body] if isinstance(node, ast.Lambda) else list(node.body)
        while pending:
            each = pending.pop()
            kind = each.__class__
            if kind is ast.Yield or kind is ast.YieldFrom:
                yields = True
            elif kind is ast.Global:
                global_names.update(each.names)  # type: ignore[attr-defined]  # kind says which node it is
            elif kind is ast.Nonlocal:
                nonlocals.update(each.names)  # type: ignore[attr-defined]
            elif kind is ast.Name:
                names_class = names_class or each.id in ("super", "__class__")  # type: ignore[attr-defined]
            if kind not in _SCOPES and kind is not ast.Name and kind is not ast.Constant:
                pending.extend(ast.iter_child_nodes(each))
        known = FunctionFacts(yields, names_class, frozenset(global_names) or None, frozenset(nonlocals) or None)
        node._facts = known  # type: ignore[union-attr]  # our own mark on the node
    return known


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
