"""Arguments of a call as values, and the parameters they meet."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from neurarch_rules.facts.python_file import FunctionNode
from neurarch_rules.facts.python_values.expressions import Expressions
from neurarch_rules.facts.python_values.state import Scope
from neurarch_rules.facts.python_values.values import NOTHING, Instance, Value, wrapped

if TYPE_CHECKING:
    from neurarch_schemas.documents.python_units import Placed


class Arguments(NamedTuple):
    """``positional`` and ``named`` with stars unpacked as far as known; ``is_whole`` when nothing is hidden in them."""

    positional: tuple[Value, ...]
    named: dict[str, Value]
    is_whole: bool


class Binding(Expressions):
    def _given(self, node: ast.Call, scope: Scope) -> Arguments:
        positional: list[Value] = []
        named: dict[str, Value] = {}
        whole = True
        for item in node.args:
            value = self._value(item.value if isinstance(item, ast.Starred) else item, scope)
            if not isinstance(item, ast.Starred):
                positional.append(value)
            elif isinstance(value.of, tuple):
                positional += (wrapped(each, value) for each in value.of)
            else:
                positional.append(NOTHING)
                whole = False
        for keyword in node.keywords:
            value = self._value(keyword.value, scope)
            if keyword.arg is not None:
                named[keyword.arg] = value
            elif isinstance(value.of, dict) and all(isinstance(key, str) for key in value.of):
                named |= {key: wrapped(each, value) for key, each in value.of.items()}
            else:
                whole = False
        return Arguments(tuple(positional), named, whole)

    def _bind(
        self, placed: Placed, function: FunctionNode, given: Arguments, unknown: bool, skipped: int
    ) -> dict[str, Value]:
        """Parameters and their values; one that is missing is unknown (Python says so itself)."""
        arguments = function.args
        order = [*arguments.posonlyargs, *arguments.args]
        defaults: list[ast.expr | None] = [None] * (len(order) - len(arguments.defaults))
        defaults += arguments.defaults
        values = dict(zip([item.arg for item in order[skipped:]], given.positional, strict=False)) | given.named
        names: dict[str, Value] = {}
        for item, default in zip(order[skipped:], defaults[skipped:], strict=True):
            names[item.arg] = self._bound(item, values, default, placed, unknown)
        for item, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
            names[item.arg] = self._bound(item, values, default, placed, unknown)
        for star in (arguments.vararg, arguments.kwarg):
            if star is not None:
                names[star.arg] = NOTHING
        return names

    def _bound(
        self, item: ast.arg, given: dict[str, Value], default: ast.expr | None, placed: Placed, unknown: bool
    ) -> Value:
        if item.arg in given:
            return given[item.arg]
        # without a construction in sight a default of None only says "to be computed"
        if unknown and (default is None or (isinstance(default, ast.Constant) and default.value is None)):
            return self._default_config(item)
        return NOTHING if default is None else self._value(default, Scope(placed, {}))

    def _default_config(self, item: ast.arg) -> Value:
        """``config: GPTConfig`` of a class of the file whose fields all have defaults: those."""
        name = item.annotation
        found = self.file.classes.get(name.id) if isinstance(name, ast.Name) else None
        if found is None or found.is_module or found.node.bases or not found.node.decorator_list:
            return NOTHING
        if {"__init__", "__post_init__", "__getattr__"} & found.methods.keys():
            return NOTHING
        fields = [node for node in found.node.body if isinstance(node, ast.AnnAssign)]
        return Value(Instance(found)) if fields and all(node.value is not None for node in fields) else NOTHING
