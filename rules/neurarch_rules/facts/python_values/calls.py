"""Calls: layers of torch, classes and methods of the file."""

from __future__ import annotations

import ast

from neurarch_rules.facts.data import facts
from neurarch_rules.facts.python_file import ClassFacts, FunctionNode, Site, first_argument, has_stars, nodes
from neurarch_rules.facts.python_values.events import Made
from neurarch_rules.facts.python_values.expressions import Expressions
from neurarch_rules.facts.python_values.state import DEPTH, Return, Scope
from neurarch_rules.facts.python_values.values import NOTHING, Instance, Layer, Parsed, Value


class Calls(Expressions):
    def _call(self, node: ast.Call, scope: Scope) -> Value:
        if _is_super_init(node):
            self._super(node, scope)
            return NOTHING
        layer = self.file.layer(node)
        positional = [self._value(item, scope) for item in node.args]
        named = {item.arg: self._value(item.value, scope) for item in node.keywords}
        if layer is not None:
            return self._layer(layer, node, positional, named, scope)
        if isinstance(node.func, ast.Name):
            name = node.func.id
            if name == "range" and positional and all(item.integer is not None for item in positional):
                numbers = [item.of for item in positional]
                return Value(range(*numbers)) if len(numbers) <= 3 and 0 not in numbers[2:] else NOTHING
            if name == "int" and len(positional) == 1 and positional[0].number is not None:
                return Value(int(positional[0].of), positional[0].origin)
            if name == "dict" and not positional and None not in named:
                return Value(dict(named))
        if isinstance(node.func, ast.Attribute) and node.func.attr == "parse_args":
            return Value(Parsed())
        called = self._value(node.func, scope)
        self._own_method(node, scope, {key: value for key, value in named.items() if key is not None}, positional)
        if isinstance(called.of, ClassFacts) and not has_stars(node):
            given = {name: value for name, value in named.items() if name is not None}
            return self._construct(called.of, given, tuple(positional), scope)
        return NOTHING

    def _own_method(self, node: ast.Call, scope: Scope, named: dict[str, Value], positional: list[Value]) -> None:
        """``self.build()`` is followed; where it cannot be, what the method stores is unknown from here on."""
        this = scope.names.get(scope.this)
        if this is None or not isinstance(this.of, Instance) or not isinstance(node.func, ast.Attribute):
            return
        if isinstance(node.func.value, ast.Name) and node.func.value.id == scope.this:
            method = this.of.of.method(node.func.attr)
            if method is not None and self.depth < DEPTH and not has_stars(node):
                self._invoke(method[0], method[1], this.of, named, tuple(positional), scope.certain, False)
                return
            for each in nodes(method[1]) if method is not None else ():
                if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store):
                    this.of.attributes[each.attr] = NOTHING

    def _layer(
        self,
        name: str,
        node: ast.Call,
        positional: list[Value],
        named: dict[str | None, Value],
        scope: Scope,
    ) -> Value:
        table = facts("torch_layers")
        order = table["parametric"].get(name) or table["plain"].get(name) or []
        stars = has_stars(node)
        arguments = {} if stars else dict(zip(order, positional, strict=False))
        arguments |= {key: value for key, value in named.items() if key is not None}
        layer = Layer(name, arguments, Site(scope.placed, node), () if stars else tuple(positional))
        if scope.certain and self.construction is not None:
            self.found.made.append(Made(layer, self.construction))
        elif (
            self.construction is not None
            and arguments
            and all(
                isinstance(value.origin and value.origin.node, ast.Constant) and _inside(value.origin, node)
                for value in arguments.values()
            )
        ):
            # whatever leads here, the numbers stand in the call itself
            self.found.made.append(Made(layer, self.construction))
        return Value(layer, Site(scope.placed, node))

    def _construct(
        self,
        found: ClassFacts,
        named: dict[str, Value],
        positional: tuple[Value, ...],
        scope: Scope,
        unknown: bool = False,
    ) -> Value:
        instance = Instance(found)
        if not found.is_module:
            return self._record(found, named, positional, instance)
        method = found.method("__init__")
        if method is None:
            return Value(instance)
        owner, function = method
        self._invoke(owner, function, instance, named, positional, scope.certain, unknown)
        return Value(instance)

    def _record(
        self, found: ClassFacts, named: dict[str, Value], positional: tuple[Value, ...], instance: Instance
    ) -> Value:
        """A dataclass, or a class without a constructor: its fields, replaced by the arguments."""
        if found.node.bases or "__init__" in found.methods or "__post_init__" in found.methods:
            return NOTHING
        fields = [
            item.target.id
            for item in found.node.body
            if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
        ]
        instance.attributes.update(zip(fields, positional, strict=False))
        instance.attributes.update(named)
        return Value(instance)

    def _super(self, node: ast.Call, scope: Scope) -> None:
        positional = [self._value(item, scope) for item in node.args]
        named = {item.arg: self._value(item.value, scope) for item in node.keywords if item.arg is not None}
        this = scope.names.get(scope.this)
        if scope.owner is None or this is None or not isinstance(this.of, Instance) or has_stars(node):
            return
        for base in scope.owner.own_bases:
            method = base.method("__init__")
            if method is not None:
                self._invoke(method[0], method[1], this.of, named, tuple(positional), scope.certain, False)
                return

    def _invoke(
        self,
        owner: ClassFacts,
        function: FunctionNode,
        instance: Instance,
        named: dict[str, Value],
        positional: tuple[Value, ...],
        certain: bool,
        unknown: bool,
    ) -> None:
        if self.depth >= DEPTH:
            return
        this = first_argument(function)
        names = self._bind(owner, function, named, positional, unknown)
        if names is None:
            return
        names[this] = Value(instance)
        self.depth += 1
        try:
            self._block(function.body, Scope(owner.placed, names, owner, this, certain))
        except Return:
            pass
        finally:
            self.depth -= 1

    def _bind(
        self,
        owner: ClassFacts,
        function: FunctionNode,
        named: dict[str, Value],
        positional: tuple[Value, ...],
        unknown: bool,
    ) -> dict[str, Value] | None:
        """Parameters and their values; None where an argument is missing (Python says so itself)."""
        arguments = function.args
        order = [item.arg for item in (*arguments.posonlyargs, *arguments.args)][1:]
        defaults = arguments.defaults
        given: dict[str, Value] = dict(zip(order, positional, strict=False)) | named
        names: dict[str, Value] = {}
        first = len(order) - len(defaults)
        for index, name in enumerate(order):
            default = defaults[index - first] if index >= first and index - first < len(defaults) else None
            names[name] = self._bound(name, given, default, owner, unknown)
        for item, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
            names[item.arg] = self._bound(item.arg, given, default, owner, unknown)
        for star in (arguments.vararg, arguments.kwarg):
            if star is not None:
                names[star.arg] = NOTHING
        return names

    def _bound(
        self, name: str, given: dict[str, Value], default: ast.expr | None, owner: ClassFacts, unknown: bool
    ) -> Value:
        if name in given:
            return given[name]
        # without a construction in sight a default of None only says "to be computed"
        if default is None or (unknown and isinstance(default, ast.Constant) and default.value is None):
            return NOTHING
        return self._value(default, Scope(owner.placed, {}))


def _inside(site: Site | None, node: ast.AST) -> bool:
    return site is not None and any(each is site.node for each in nodes(node))


def _is_super_init(node: ast.Call) -> bool:
    function = node.func
    return (
        isinstance(function, ast.Attribute)
        and function.attr == "__init__"
        and isinstance(function.value, ast.Call)
        and isinstance(function.value.func, ast.Name)
        and function.value.func.id == "super"
    )
