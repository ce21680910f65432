"""Calls: layers of torch, classes and methods of the file."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from neurarch_rules.facts.data import facts
from neurarch_rules.facts.python_file import ClassFacts, FunctionNode, Site, first_argument, has_stars, nodes
from neurarch_rules.facts.python_values.events import Built, Made
from neurarch_rules.facts.python_values.expressions import Expressions
from neurarch_rules.facts.python_values.state import DEPTH, MUTATING, Doubt, Return, Scope
from neurarch_rules.facts.python_values.values import (
    NOTHING,
    Instance,
    Layer,
    Namespace,
    Parsed,
    Tensor,
    Value,
    wrapped,
)

if TYPE_CHECKING:
    from neurarch_schemas.documents.python_units import Placed


NAMESPACES = frozenset(
    ("types.SimpleNamespace", "argparse.Namespace", "easydict.EasyDict", "addict.Dict", "ml_collections.ConfigDict")
)
FACTORIES = frozenset(f"torch.{name}" for name in ("zeros", "ones", "empty", "rand", "randn", "full"))
READING = frozenset(("len", "range", "zip", "enumerate", "reversed", "print", "tuple", "list", "sum", "max", "min"))
"""Functions that leave a list as it is."""


class Arguments(NamedTuple):
    """``positional`` and ``named`` with stars unpacked as far as known; ``is_whole`` when nothing is hidden in them."""

    positional: tuple[Value, ...]
    named: dict[str, Value]
    is_whole: bool


class Calls(Expressions):
    def _call(self, node: ast.Call, scope: Scope) -> Value:
        if _is_super_init(node):
            self._super(node, scope)
            return NOTHING
        layer = self.file.layer(node)
        given = self._given(node, scope)
        if layer is not None:
            return self._layer(layer, node, given, scope)
        builtin = self._builtin(node, given) or self._tensor(node, given, scope)
        if builtin is not None:
            return builtin
        if isinstance(node.func, ast.Attribute):
            if node.func.attr == "parse_args":
                return Value(Parsed())
            if node.func.attr in MUTATING:
                self._mutate(node.func, given, scope)
                return NOTHING
        called = self._value(node.func, scope)
        self._may_change(node, scope)
        self._own_method(node, scope, given)
        if isinstance(called.of, ClassFacts) and given.is_whole:
            return self._construct(called.of, given, scope, node)
        if isinstance(node.func, ast.Name) and node.func.id not in scope.names and given.is_whole:
            function = self.file.functions.get(node.func.id)
            if function is not None:
                return self._function_call(function[0], function[1], given, scope)
        return NOTHING

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

    def _builtin(self, node: ast.Call, given: Arguments) -> Value | None:
        positional = given.positional
        if self.file.qualified(node.func) in NAMESPACES and given.is_whole:
            first = positional[0].of if len(positional) == 1 else {}
            if not isinstance(first, dict):
                return NOTHING
            return Value(
                Namespace({**{str(key): wrapped(each, NOTHING) for key, each in first.items()}, **given.named})
            )
        if not isinstance(node.func, ast.Name):
            return None
        name = node.func.id
        if name == "range" and positional and all(item.integer is not None for item in positional):
            numbers = [item.of for item in positional]
            return Value(range(*numbers)) if len(numbers) <= 3 and 0 not in numbers[2:] else NOTHING
        if name == "int" and len(positional) == 1 and positional[0].number is not None:
            return Value(int(positional[0].of), positional[0].origin)
        if name == "OrderedDict" and len(positional) == 1:
            return positional[0]
        if name == "dict" and not positional and given.is_whole:
            return Value(dict(given.named))
        return None

    def _tensor(self, node: ast.Call, given: Arguments, scope: Scope) -> Value | None:
        """``torch.zeros(1, n, d)``, a parameter or a triangle of it, and what keeps its shape."""
        name = self.file.qualified(node.func) or ""
        first = given.positional[0].of if given.positional else None
        if name in FACTORIES and given.is_whole:
            shape = first if isinstance(first, tuple) else given.positional
            return Value(Tensor(tuple(wrapped(each, NOTHING) for each in shape), Site(scope.placed, node)))
        if isinstance(first, Tensor) and name in ("torch.nn.Parameter", "torch.tril", "torch.triu"):
            return Value(
                Tensor(first.shape, Site(scope.placed, node), first.is_triangle or name != "torch.nn.Parameter")
            )
        if not isinstance(node.func, ast.Attribute) or name:
            return None
        method, this = node.func.attr, scope.names.get(scope.this)
        if method == "register_buffer" and this is not None and isinstance(this.of, Instance):
            if len(given.positional) > 1 and isinstance(given.positional[0].of, str):
                this.of.attributes[given.positional[0].of] = given.positional[1]
            return NOTHING
        if method not in ("bool", "float", "to", "view", "tril", "triu", "half", "unsqueeze", "reshape"):
            return None
        owner = self._value(node.func.value, scope).of
        if not isinstance(owner, Tensor):
            return None
        shape = owner.shape
        if method in ("view", "reshape"):
            shape = given.positional
        elif method == "unsqueeze":
            shape = (Value(1), *shape) if given.positional[:1] and given.positional[0].integer == 0 else ()
        return Value(Tensor(shape, owner.site, owner.is_triangle or method in ("tril", "triu"))) if shape else NOTHING

    def _mutate(self, method: ast.Attribute, given: Arguments, scope: Scope) -> None:
        """``layers.append(...)``: followed for a local list, else the container is unknown from here on."""
        owner = method.value
        if isinstance(owner, ast.Name):
            before = scope.names.get(owner.id, NOTHING).of
            added: tuple[Value, ...] | None = None
            if isinstance(before, tuple) and len(given.positional) == 1 and given.is_whole and scope.certain:
                if method.attr == "append":
                    added = given.positional
                elif method.attr == "extend" and isinstance(given.positional[0].of, tuple):
                    added = tuple(wrapped(each, NOTHING) for each in given.positional[0].of)
            scope.names[owner.id] = NOTHING if added is None else Value((*before, *added))
        elif isinstance(owner, ast.Attribute):
            holder = self._value(owner.value, scope)
            if isinstance(holder.of, Instance):
                holder.of.attributes[owner.attr] = NOTHING

    def _may_change(self, node: ast.Call, scope: Scope) -> None:
        """A list or dict that is handed to a function may come back changed."""
        if isinstance(node.func, ast.Name) and (node.func.id in READING or node.func.id in self.file.classes):
            return
        for item in node.args:
            if isinstance(item, ast.Name) and isinstance(scope.names.get(item.id, NOTHING).of, tuple):
                scope.names[item.id] = NOTHING

    def _function_call(self, placed: Placed, function: FunctionNode, given: Arguments, scope: Scope) -> Value:
        """A function of the file: what it makes is made, what it surely returns is the value."""
        if self.depth >= DEPTH or function.decorator_list or isinstance(function, ast.AsyncFunctionDef):
            return NOTHING
        if any(isinstance(node, ast.Yield | ast.YieldFrom) for node in nodes(function)):
            return NOTHING
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

    def _layer(self, name: str, node: ast.Call, given: Arguments, scope: Scope) -> Value:
        table = facts("torch_layers")
        order = table["parametric"].get(name) or table["plain"].get(name) or []
        arguments: dict[str, Value] = {}
        if given.is_whole or not has_stars(node):
            arguments = dict(zip(order, given.positional, strict=False))
        arguments |= given.named
        layer = Layer(name, arguments, Site(scope.placed, node), _children(given))
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
            self.found.built.append(Built(instance, self.times, site, self.construction, self._looker(instance)))
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


def _children(given: Arguments) -> tuple[Value, ...]:
    """Of a Sequential, in order; an OrderedDict or a list of pairs gives its values."""
    if len(given.positional) != 1:
        return given.positional
    only = given.positional[0].of
    if isinstance(only, dict):
        return tuple(wrapped(each, NOTHING) for each in only.values())
    if isinstance(only, tuple):
        pairs = [wrapped(each, NOTHING).of for each in only]
        if all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
            return tuple(wrapped(pair[1], NOTHING) for pair in pairs)
    return given.positional


def _forget_attributes(function: FunctionNode, instance: Instance) -> None:
    for each in nodes(function):
        if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store):
            instance.attributes[each.attr] = NOTHING


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
