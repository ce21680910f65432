"""Where evaluation begins: the statements of the file, its functions, and each module class by itself."""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Iterable, Iterator
from copy import deepcopy
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from neurarch_rules.facts.python_file import FUNCTIONS, FunctionNode, Site, python_file
from neurarch_rules.facts.python_reach import is_silent
from neurarch_rules.facts.python_values.arguments import Arguments
from neurarch_rules.facts.python_values.events import Events
from neurarch_rules.facts.python_values.state import Doubt, OutOfSteps, Return, Scope, Stop
from neurarch_rules.facts.python_values.statements import Statements
from neurarch_rules.facts.python_values.values import NOTHING, Value
from neurarch_schemas.config_calls.bindings import binds_unseen
from neurarch_schemas.documents.python_nodes import stored

if TYPE_CHECKING:
    from neurarch_rules.engine.context import Context
    from neurarch_rules.facts.python_file import ClassFacts, PythonFile
    from neurarch_schemas.documents.python_units import Placed

STRAIGHT = (ast.Assign, ast.AnnAssign, ast.Expr)
"""Statements that run once and in order."""


def events(
    context: Context, words: tuple[str, ...], check: Callable[..., Iterable[object]], *given: Hashable
) -> Events:
    """What the constructors of the file surely do, in those parts of it where ``check(events, *given)`` finds something
    by itself. The others are not even evaluated while nothing they reach has changed, or where they reach none of the
    words that a check needs (those of ``RULE.needs``)."""
    file = python_file(context)
    found = Events()
    for part in context.once("python-parts", lambda: _parts(file)):
        if not file.reach.mentions(words, *part.placed):
            continue
        if not is_silent((check, given, part.key), _asked, check, part, given):
            found.add(part.events)
    return found


def _asked(check: Callable[..., Iterable[object]], part: _Part, given: tuple[Hashable, ...]) -> Iterable[object]:
    return check(part.events, *given)


class _Part:
    """What begins by itself: the statements at module level, a function, a class by its own defaults."""

    def __init__(self, placed: tuple[Placed, ...], key: Hashable, evaluate: Callable[[], Events]) -> None:
        self.placed = placed
        self.key = key
        self._evaluate = evaluate

    @cached_property
    def events(self) -> Events:
        return self._evaluate()


def _parts(file: PythonFile) -> tuple[_Part, ...]:
    if "nn." not in file.text and not file.modules:
        return ()
    beginnings = _Beginnings(file)
    reach = file.reach
    return (
        _Part(reach.main, ("main", reach.of(*reach.main)), lambda: beginnings.main.found),
        *(
            _Part((placed,), (name, reach.of(placed)), partial(beginnings.function, placed, function))
            for name, (placed, function) in file.functions.items()
            if not name.startswith("test") and "raises" not in placed.unit.text
        ),
        *(
            _Part((found.placed,), (found.name, reach.of(found.placed)), partial(beginnings.module, found))
            for found in file.modules
        ),
    )


class _Beginnings:
    """Each with an evaluator of its own, so that none depends on which others are evaluated."""

    def __init__(self, file: PythonFile) -> None:
        self.file = file

    @cached_property
    def main(self) -> _Evaluator:
        found = _Evaluator(self.file, self._arguments, {})
        found.main()
        return found

    def function(self, placed: Placed, function: FunctionNode) -> Events:
        return self._at(placed).function(placed, function)

    def module(self, found: ClassFacts) -> Events:
        return self._at(found.placed).module(found)

    def _at(self, placed: Placed) -> _Evaluator:
        names = deepcopy(self._globals) if self.file.reach.reads_variables(placed) else {}
        return _Evaluator(self.file, self._arguments, names)

    @cached_property
    def _globals(self) -> dict[str, Value]:
        """What is known of the names at module level once the file has run."""
        return {name: value for name, value in self.main.globals.items() if value is not NOTHING}

    @cached_property
    def _arguments(self) -> dict[str, Value]:
        arguments: dict[str, Value] = {}
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
                arguments[key] = Value(default.value, Site(placed, default))
        return arguments


class _Evaluator(Statements):
    def main(self) -> None:
        """The statements at module level."""
        self.explicit = True
        for placed, outer in self.file.main_statements:
            if not isinstance(outer, (*FUNCTIONS, ast.ClassDef)) and binds_unseen(placed):
                self.globals.update(dict.fromkeys(self.globals, NOTHING))
            for statement in self._unwrapped(outer):
                if isinstance(statement, STRAIGHT):
                    self._one(statement, Scope(placed, self.globals))
                    continue
                for name in stored(statement):
                    if name not in self.file.classes:
                        self.globals[name] = NOTHING

    def function(self, placed: Placed, function: FunctionNode) -> Events:
        self.explicit = True
        self._function(placed, function)
        return self.found

    def module(self, found: ClassFacts) -> Events:
        """A class as made by its own defaults."""
        if found.method("__init__") is not None:
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
