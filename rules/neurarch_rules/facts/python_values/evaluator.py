"""Where evaluation begins: the statements of the file, its functions, and each module class by itself."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from neurarch_rules.facts.python_file import FunctionNode, Site, python_file
from neurarch_rules.facts.python_values.arguments import Arguments
from neurarch_rules.facts.python_values.events import Events
from neurarch_rules.facts.python_values.state import Doubt, OutOfSteps, Return, Scope, Stop, stored
from neurarch_rules.facts.python_values.statements import Statements
from neurarch_rules.facts.python_values.values import NOTHING, Value

if TYPE_CHECKING:
    from neurarch_rules.engine.context import Context
    from neurarch_schemas.documents.python_units import Placed

STRAIGHT = (ast.Assign, ast.AnnAssign, ast.Expr)
"""Statements that run once and in order."""


def events(context: Context) -> Events:
    """What the constructors of the file surely do, computed once."""
    return context.once("python-events", lambda: _Evaluator(python_file(context)).run())


class _Evaluator(Statements):
    def run(self) -> Events:
        if "nn." not in self.file.text and not self.file.modules:
            return self.found
        self._arguments()
        self.explicit = True
        for placed, outer in self.file.main_statements:
            for statement in self._unwrapped(outer):
                if isinstance(statement, STRAIGHT):
                    self._one(statement, Scope(placed, self.globals))
                    continue
                for name in stored(statement):
                    if name not in self.file.classes:
                        self.globals[name] = NOTHING
        for name, (placed, function) in self.file.functions.items():
            if not name.startswith("test") and "raises" not in placed.unit.text:
                self._function(placed, function)
        self.explicit = False
        for found in self.file.modules:
            method = found.method("__init__")
            if method is None:
                continue
            self.construction = Site(found.placed, found.node)
            self._guarded(
                lambda scope, node: self._construct(node, Arguments((), {}, True), scope, unknown=True),
                Scope(found.placed, {}),
                found,
            )
        return self.found

    def _function(self, placed: Placed, function: FunctionNode) -> None:
        """The straight statements of a function, whose parameters are unknown."""
        arguments = function.args
        names = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        scope = Scope(placed, {item.arg: NOTHING for item in names if item is not None})
        for outer in function.body:
            for statement in self._unwrapped(outer):
                if isinstance(statement, (*STRAIGHT, ast.Return)):
                    self._one(statement, scope)
                else:
                    self._forget([statement], scope)

    def _one(self, statement: ast.stmt, scope: Scope) -> None:
        self.construction = Site(scope.placed, statement)
        self._guarded(lambda scope, node: self._statement(node, scope), scope, statement)

    def _unwrapped(self, statement: ast.stmt) -> Iterator[ast.stmt]:
        """A statement, or those of a ``with torch.no_grad():``."""
        if isinstance(statement, ast.With) and all(self._lets_through(item.context_expr) for item in statement.items):
            for inner in statement.body:
                yield from self._unwrapped(inner)
        else:
            yield statement

    def _guarded(self, call: Callable[[Scope, Any], Any], scope: Scope, node: Any) -> None:
        self.steps, self.depth = 0, 0
        try:
            call(scope, node)
        except (Stop, Return, Doubt, OutOfSteps, RecursionError):
            return

    def _arguments(self) -> None:
        for placed, call in self.file.calls("add_argument"):
            options = [item.value for item in call.args if isinstance(item, ast.Constant)]
            name = next((str(item) for item in options if str(item).startswith("--")), None) or (
                str(options[0]) if options else ""
            )
            given = {keyword.arg: keyword.value for keyword in call.keywords}
            dest, default = given.get("dest"), given.get("default")
            if isinstance(dest, ast.Constant):
                name = str(dest.value)
            if isinstance(default, ast.Constant) and type(default.value) in (int, float) and "action" not in given:
                key = name.lstrip("-").replace("-", "_")
                self.arguments[key] = Value(default.value, Site(placed, default))
