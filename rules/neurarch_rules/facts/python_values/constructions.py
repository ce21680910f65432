"""Constructors, methods and functions of the file, run with what is known of their arguments."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from neurarch_rules.facts.python_file import ClassFacts, FunctionNode, Site, first_argument
from neurarch_rules.facts.python_values.arguments import Arguments, Binding
from neurarch_rules.facts.python_values.events import Built
from neurarch_rules.facts.python_values.state import DEPTH, Doubt, Return, Scope
from neurarch_rules.facts.python_values.values import NOTHING, Instance, Value
from neurarch_schemas.documents.python_nodes import nodes

if TYPE_CHECKING:
    from neurarch_schemas.documents.python_units import Placed


class Constructions(Binding):
    def _construct(
        self, found: ClassFacts, given: Arguments, scope: Scope, node: ast.Call | None = None, unknown: bool = False
    ) -> Value:
        instance = Instance(found)
        if not found.is_module:
            return self._record(found, given, instance, scope)
        method = found.method("__init__")
        if method is None:
            return Value(instance)
        owner, function = method
        self._invoke(owner, function, instance, given, scope.certain, unknown)
        if scope.certain and self.construction is not None:
            site = Site(scope.placed, node) if node is not None else self.construction
            instance.look = self._looker(instance)
            self.found.built.append(Built(instance, self.times, site, self.construction, instance.look))
        return Value(instance)

    def _looker(self, instance: Instance) -> Callable[[ast.expr, str], Value]:
        def look(expression: ast.expr, this: str) -> Value:
            if any(isinstance(node, ast.Call) for node in nodes(expression)):
                return NOTHING
            self.steps = 0
            return self._value(expression, Scope(instance.of.placed, {this: Value(instance)}, certain=False))

        return look

    def _record(self, found: ClassFacts, given: Arguments, instance: Instance, scope: Scope) -> Value:
        """A dataclass, or a plain class of the file: its fields, replaced by the arguments."""
        if found.node.bases or "__post_init__" in found.methods or "__getattr__" in found.methods:
            return NOTHING
        own = found.methods.get("__init__")
        if own is not None:
            if found.node.decorator_list:
                return NOTHING
            self._invoke(found, own, instance, given, scope.certain, False)
            return Value(instance)
        fields = [
            item.target.id
            for item in found.node.body
            if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
        ]
        instance.attributes.update(zip(fields, given.positional, strict=False))
        instance.attributes.update(given.named)
        return Value(instance)

    def _super(self, node: ast.Call, scope: Scope) -> None:
        given = self._given(node, scope)
        this = scope.names.get(scope.this)
        if scope.owner is None or this is None or not isinstance(this.of, Instance) or not given.is_whole:
            return
        for base in scope.owner.own_bases:
            method = base.method("__init__")
            if method is not None:
                self._invoke(method[0], method[1], this.of, given, scope.certain, False)
                return

    def _invoke(
        self,
        owner: ClassFacts,
        function: FunctionNode,
        instance: Instance,
        given: Arguments,
        certain: bool,
        unknown: bool,
    ) -> None:
        if self.depth >= DEPTH:
            return
        this = first_argument(function)
        names = self._bind(owner.placed, function, given, unknown, skipped=1)
        names[this] = Value(instance)
        self.depth += 1
        try:
            self._block(function.body, Scope(owner.placed, names, owner, this, certain))
        except Return:
            pass
        except Doubt:
            _forget_attributes(function, instance)
        finally:
            self.depth -= 1

    def _own_method(self, node: ast.Call, scope: Scope, given: Arguments) -> None:
        """``self.build()`` is followed; where it cannot be, what the method stores is unknown from here on."""
        this = scope.names.get(scope.this)
        if this is None or not isinstance(this.of, Instance) or not isinstance(node.func, ast.Attribute):
            return
        if isinstance(node.func.value, ast.Name) and node.func.value.id == scope.this:
            method = this.of.of.method(node.func.attr)
            if method is not None and self.depth < DEPTH and given.is_whole:
                self._invoke(method[0], method[1], this.of, given, scope.certain, False)
            elif method is not None:
                _forget_attributes(method[1], this.of)

    def _class_method(self, name: ast.Name, method: str, given: Arguments, scope: Scope) -> Value | None:
        """``Config.tiny()``, a class method of a plain class of the file."""
        found = self._value(name, scope).of
        function = found.methods.get(method) if isinstance(found, ClassFacts) and not found.is_module else None
        if function is None or [ast.unparse(item) for item in function.decorator_list] != ["classmethod"]:
            return None
        return self._function_call(found.placed, function, given, scope, (Value(found),))

    def _function_call(
        self, placed: Placed, function: FunctionNode, given: Arguments, scope: Scope, bound: tuple[Value, ...] = ()
    ) -> Value:
        """A function of the file: what it makes is made, what it surely returns is the value."""
        if self.depth >= DEPTH or (function.decorator_list and not bound) or isinstance(function, ast.AsyncFunctionDef):
            return NOTHING
        if any(isinstance(node, ast.Yield | ast.YieldFrom) for node in nodes(function)):
            return NOTHING
        given = given._replace(positional=(*bound, *given.positional))
        inner = Scope(placed, self._bind(placed, function, given, False, skipped=0), certain=scope.certain)
        construction = self.construction
        self.depth += 1
        try:
            for statement in function.body:
                if not given.positional and not given.named:
                    # all numbers stand in the function itself
                    self.construction = Site(placed, statement)
                self._block([statement], inner)
        except Return as returned:
            return returned.value
        except Doubt:
            return NOTHING
        finally:
            self.depth -= 1
            self.construction = construction
        return NOTHING


def _forget_attributes(function: FunctionNode, instance: Instance) -> None:
    for each in nodes(function):
        if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store):
            instance.attributes[each.attr] = NOTHING
