"""The value of an expression, as far as it is known."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from neurarch_rules.facts.python_file import ClassFacts, Site
from neurarch_rules.facts.python_values.state import DEPTH, Scope, State
from neurarch_rules.facts.python_values.values import (
    LARGEST,
    NOTHING,
    PLAIN,
    Instance,
    Layer,
    Namespace,
    Parsed,
    Tensor,
    Value,
    Weight,
    wrapped,
)
from neurarch_schemas.documents.python_nodes import stored

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Div: operator.truediv,
    ast.Mod: operator.mod,
}
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


class Expressions(State):
    def _value(self, node: ast.expr, scope: Scope) -> Value:
        self._tick()
        if isinstance(node, ast.Call):
            return self._call(node, scope)
        method = _EXPRESSIONS.get(type(node))
        if method is None:
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr) and not isinstance(node, ast.Lambda):
                    self._value(child, scope)
            return NOTHING
        return method(self, node, scope)

    def _constant(self, node: ast.Constant, scope: Scope) -> Value:
        if not isinstance(node.value, PLAIN) or (type(node.value) is int and abs(node.value) > LARGEST):
            return NOTHING
        return Value(node.value, Site(scope.placed, node))

    def _name(self, node: ast.Name, scope: Scope) -> Value:
        found = scope.names.get(node.id)
        if found is not None:
            return found
        if node.id in self.file.classes:
            return Value(self.file.classes[node.id])
        return self.globals.get(node.id, NOTHING)

    def _attribute(self, node: ast.Attribute, scope: Scope) -> Value:
        owner = self._value(node.value, scope)
        if isinstance(owner.of, Instance):
            if node.attr in owner.of.attributes:
                return owner.of.attributes[node.attr]
            return self._class_attribute(owner.of.of, node.attr)
        if isinstance(owner.of, ClassFacts):
            return self._class_attribute(owner.of, node.attr)
        if isinstance(owner.of, Layer):
            held = owner.of.arguments.get("modules", NOTHING).of if owner.of.name == "ModuleDict" else None
            if isinstance(held, dict):
                found = held.get(node.attr)
                return found if isinstance(found, Value) else NOTHING
            if node.attr == "weight":
                return Value(Weight(owner.of))
            return owner.of.arguments.get(node.attr, NOTHING)
        if isinstance(owner.of, Namespace):
            return owner.of.attributes.get(node.attr, NOTHING)
        if isinstance(owner.of, Parsed):
            return self.arguments.get(node.attr, NOTHING)
        return NOTHING

    def _class_attribute(self, found: ClassFacts, name: str) -> Value:
        if found.is_module or self.depth > DEPTH:
            return NOTHING
        for item in found.node.body:
            if isinstance(item, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in item.targets):
                return self._literal(item.value, found)
            if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name) and item.target.id == name:
                return NOTHING if item.value is None else self._literal(item.value, found)
        return NOTHING

    def _literal(self, node: ast.expr, found: ClassFacts) -> Value:
        return self._value(node, Scope(found.placed, {}))

    def _binary(self, node: ast.BinOp, scope: Scope) -> Value:
        left, right = self._value(node.left, scope), self._value(node.right, scope)
        apply = _BINARY.get(type(node.op))
        if isinstance(node.op, ast.Add) and isinstance(left.of, tuple) and isinstance(right.of, tuple):
            return Value((*left.of, *right.of))
        if isinstance(left.of, Tensor) and right.number is not None:
            return left
        if apply is None or left.number is None or right.number is None:
            return NOTHING
        try:
            result = apply(left.of, right.of)
        except (ArithmeticError, ValueError):
            return NOTHING
        if abs(result) > LARGEST:
            return NOTHING
        return Value(result, left.origin or right.origin)

    def _unary(self, node: ast.UnaryOp, scope: Scope) -> Value:
        value = self._value(node.operand, scope)
        if isinstance(node.op, ast.Not):
            return Value(not value.of) if value.known and isinstance(value.of, PLAIN) else NOTHING
        if isinstance(node.op, ast.USub) and value.number is not None:
            return Value(-value.of, Site(scope.placed, node))
        return NOTHING

    def _boolean(self, node: ast.BoolOp, scope: Scope) -> Value:
        values = [self._value(item, scope) for item in node.values]
        stop = isinstance(node.op, ast.Or)
        for value in values:
            if not value.known or not isinstance(value.of, PLAIN):
                return NOTHING
            if bool(value.of) == stop:
                return value
        return values[-1]

    def _compare(self, node: ast.Compare, scope: Scope) -> Value:
        values = [self._value(item, scope) for item in (node.left, *node.comparators)]
        if len(values) != 2:
            return NOTHING
        left, right = values
        comparison = node.ops[0]
        if not left.known or not right.known:
            return NOTHING
        if isinstance(comparison, ast.Is | ast.IsNot):
            if right.of is None and isinstance(left.of, (*PLAIN, Layer, Instance, tuple, list)):
                return Value((left.of is None) == isinstance(comparison, ast.Is))
            return NOTHING
        apply = _COMPARE.get(type(comparison))
        if apply is None or not isinstance(left.of, PLAIN) or not isinstance(right.of, PLAIN):
            return NOTHING
        try:
            return Value(bool(apply(left.of, right.of)))
        except TypeError:
            return NOTHING

    def _choice(self, node: ast.IfExp, scope: Scope) -> Value:
        test = self._value(node.test, scope)
        if not test.known:
            inner = Scope(scope.placed, dict(scope.names), scope.owner, scope.this, certain=False)
            self._value(node.body, inner)
            self._value(node.orelse, inner)
            return NOTHING
        return self._value(node.body if test.of else node.orelse, scope)

    def _sequence(self, node: ast.Tuple | ast.List, scope: Scope) -> Value:
        items: list[Value] = []
        for item in node.elts:
            value = self._value(item.value if isinstance(item, ast.Starred) else item, scope)
            if not isinstance(item, ast.Starred):
                items.append(value)
            elif isinstance(value.of, tuple):
                items += (wrapped(each, value) for each in value.of)
            else:
                return NOTHING
        return Value(tuple(items), Site(scope.placed, node))

    def _dict(self, node: ast.Dict, scope: Scope) -> Value:
        values = [self._value(item, scope) for item in node.values]
        if not all(isinstance(key, ast.Constant) for key in node.keys):
            return NOTHING
        return Value({key.value: value for key, value in zip(node.keys, values, strict=True)})  # type: ignore[union-attr]  # all are constants

    def _subscript(self, node: ast.Subscript, scope: Scope) -> Value:
        owner, key = self._value(node.value, scope), self._value(node.slice, scope)
        if isinstance(owner.of, dict) and isinstance(key.of, PLAIN):
            found = owner.of.get(key.of, NOTHING)
            return found if isinstance(found, Value) else NOTHING
        if isinstance(owner.of, Layer) and owner.of.name in ("Sequential", "ModuleList") and key.integer is not None:
            items = owner.of.children
            return (
                items[key.of] if -len(items) <= key.of < len(items) and all(item.known for item in items) else NOTHING
            )
        if isinstance(owner.of, tuple) and key.integer is not None and -len(owner.of) <= key.of < len(owner.of):
            return wrapped(owner.of[key.of], owner)
        return NOTHING

    def _comprehension(self, node: ast.ListComp | ast.GeneratorExp, scope: Scope) -> Value:
        inner = Scope(scope.placed, dict(scope.names), scope.owner, scope.this, scope.certain)
        times = self.times
        for generator in node.generators:
            items = self._value(generator.iter, inner)
            runs = isinstance(items.of, range | tuple | list) and len(items.of) > 0 and not generator.ifs
            inner.certain = inner.certain and runs
            self.times *= len(items.of) if runs else 1
            for name in stored(generator.target):
                inner.names[name] = NOTHING
        try:
            self._value(node.elt, inner)
        finally:
            self.times = times
        return NOTHING

    def _starred(self, node: ast.Starred, scope: Scope) -> Value:
        self._value(node.value, scope)
        return NOTHING


_EXPRESSIONS: dict[type[ast.AST], Callable[[Any, Any, Scope], Value]] = {
    ast.Constant: Expressions._constant,
    ast.Name: Expressions._name,
    ast.Attribute: Expressions._attribute,
    ast.BinOp: Expressions._binary,
    ast.UnaryOp: Expressions._unary,
    ast.BoolOp: Expressions._boolean,
    ast.Compare: Expressions._compare,
    ast.IfExp: Expressions._choice,
    ast.Tuple: Expressions._sequence,
    ast.List: Expressions._sequence,
    ast.Dict: Expressions._dict,
    ast.Subscript: Expressions._subscript,
    ast.ListComp: Expressions._comprehension,
    ast.GeneratorExp: Expressions._comprehension,
    ast.Starred: Expressions._starred,
}
