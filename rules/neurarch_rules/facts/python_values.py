"""Constants through the constructors of one file: which layers are made with which known numbers.

Nothing is executed: a small evaluator follows literals, defaults and assignments. Whatever it is not sure of is
unknown, a condition on an unknown value ends certainty for what it guards, and work is bounded by steps and depth.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from neurarch_rules.facts.data import facts
from neurarch_rules.facts.python_file import (
    FUNCTIONS,
    ClassFacts,
    FunctionNode,
    PythonFile,
    Site,
    first_argument,
    has_stars,
    nodes,
    python_file,
)

if TYPE_CHECKING:
    from neurarch_rules.engine.context import Context
    from neurarch_schemas.documents.python_units import Placed

STEPS = 20_000
DEPTH = 12
LARGEST = 10**15
"""Integers beyond are no sizes of a model."""


class _Unknown:
    def __repr__(self) -> str:
        return "unknown"


UNKNOWN: Final = _Unknown()


@dataclass(frozen=True, slots=True)
class Value:
    """``of`` is a plain Python value, a Layer, an Instance, a ClassFacts or UNKNOWN; ``origin`` where it is written."""

    of: Any
    origin: Site | None = None

    @property
    def known(self) -> bool:
        return self.of is not UNKNOWN

    @property
    def number(self) -> int | float | None:
        return self.of if type(self.of) in (int, float) else None

    @property
    def integer(self) -> int | None:
        return self.of if type(self.of) is int else None


NOTHING = Value(UNKNOWN)


@dataclass(frozen=True)
class Layer:
    """A ``torch.nn`` layer with the arguments that are known by name."""

    name: str
    arguments: dict[str, Value]
    site: Site
    children: tuple[Value, ...] = ()

    def integer(self, name: str) -> int | None:
        return self.arguments.get(name, NOTHING).integer

    def number(self, name: str) -> int | float | None:
        return self.arguments.get(name, NOTHING).number


@dataclass
class Instance:
    of: ClassFacts
    attributes: dict[str, Value] = field(default_factory=dict)


@dataclass(frozen=True)
class Made:
    """A layer is surely made when ``construction`` is evaluated."""

    layer: Layer
    construction: Site


@dataclass(frozen=True)
class Refused:
    """``test`` is surely false in an assert, or true before a raise; ``names`` are the values it reads."""

    site: Site
    test: ast.expr
    values: tuple[tuple[str, Value], ...]
    construction: Site
    explicit: bool
    """A construction written in the file, not the class's own defaults."""


@dataclass(frozen=True)
class Tied:
    """``a.weight = b.weight`` of two layers whose sizes are known as far as their arguments."""

    site: Site
    target: Layer
    source: Layer
    construction: Site


@dataclass
class Events:
    made: list[Made] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    tied: list[Tied] = field(default_factory=list)


class _Stop(Exception):
    """The constructor surely ends here."""


class _Return(Exception):
    pass


class _OutOfSteps(Exception):
    pass


def events(context: Context) -> Events:
    """What the constructors of the file surely do, computed once."""
    return context.once("python-events", lambda: _Evaluator(python_file(context)).run())


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
_PLAIN = (int, float, str, bool, type(None))


@dataclass
class _Scope:
    placed: Placed
    names: dict[str, Value]
    owner: ClassFacts | None = None
    this: str = ""
    certain: bool = True


class _Evaluator:
    def __init__(self, file: PythonFile) -> None:
        self.file = file
        self.found = Events()
        self.steps = 0
        self.depth = 0
        self.construction: Site | None = None
        self.explicit = False
        self.globals: dict[str, Value] = {}
        self.arguments: dict[str, Value] = {}
        """Defaults of ``add_argument``, by attribute name."""
        self.seen: set[tuple[int, int]] = set()

    def run(self) -> Events:
        if "nn." not in self.file.text and not self.file.modules:
            return self.found
        self._arguments()
        for placed, statement in self.file.main_statements:
            self.explicit = True
            if isinstance(statement, ast.Assign | ast.AnnAssign | ast.Expr):
                self.construction = Site(placed, statement)
                self._guarded(lambda scope, node: self._statement(node, scope), _Scope(placed, self.globals), statement)
            else:
                for name in _stored(statement):
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
                lambda scope, node: self._construct(node, {}, (), scope, unknown=True),
                _Scope(found.placed, {}),
                found,
            )
        return self.found

    def _function(self, placed: Placed, function: FunctionNode) -> None:
        """The straight statements of a function, whose parameters are unknown."""
        arguments = function.args
        names = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        scope = _Scope(placed, {item.arg: NOTHING for item in names if item is not None})
        for statement in function.body:
            if isinstance(statement, ast.Assign | ast.AnnAssign | ast.Expr | ast.Return):
                self.construction = Site(placed, statement)
                self._guarded(lambda scope, node: self._statement(node, scope), scope, statement)
            else:
                self._forget([statement], scope)

    def _guarded(self, call: Callable[[_Scope, Any], Any], scope: _Scope, node: Any) -> None:
        self.steps, self.depth = 0, 0
        try:
            call(scope, node)
        except (_Stop, _Return, _OutOfSteps, RecursionError):
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

    # statements

    def _tick(self) -> None:
        self.steps += 1
        if self.steps > STEPS:
            raise _OutOfSteps

    def _block(self, body: list[ast.stmt], scope: _Scope) -> None:
        for statement in body:
            self._statement(statement, scope)

    def _statement(self, node: ast.stmt, scope: _Scope) -> None:
        self._tick()
        if isinstance(node, ast.Assign):
            value = self._value(node.value, scope)
            for target in node.targets:
                self._assign(target, value, scope, node)
        elif isinstance(node, ast.AnnAssign):
            if node.value is not None:
                self._assign(node.target, self._value(node.value, scope), scope, node)
        elif isinstance(node, ast.AugAssign):
            self._value(node.value, scope)
            self._assign(node.target, NOTHING, scope, node)
        elif isinstance(node, ast.Expr):
            self._value(node.value, scope)
        elif isinstance(node, ast.If):
            self._if(node, scope)
        elif isinstance(node, ast.Assert):
            self._assert(node, scope)
        elif isinstance(node, ast.For):
            self._for(node, scope)
        elif isinstance(node, ast.With):
            self._doubtful(node.body, scope)
        elif isinstance(node, ast.Return):
            if node.value is not None:
                self._value(node.value, scope)
            if scope.certain:
                raise _Return
            raise _OutOfSteps
        elif isinstance(node, ast.Raise):
            if scope.certain:
                raise _Stop
        elif isinstance(node, ast.While | ast.Try):
            self._doubtful([node], scope, enter=False)
        elif isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            scope.names[node.name] = NOTHING
        elif isinstance(node, ast.Delete | ast.Import | ast.ImportFrom | ast.Match):
            self._forget([node], scope)

    def _if(self, node: ast.If, scope: _Scope) -> None:
        test = self._value(node.test, scope)
        if not test.known:
            branches = [node.body, node.orelse]
            before = dict(scope.names)
            for branch in branches:
                inner = _Scope(scope.placed, dict(before), scope.owner, scope.this, certain=False)
                self._quietly(branch, inner)
            self._forget([node], scope)
            return
        chosen = node.body if test.of else node.orelse
        if chosen and isinstance(chosen[0], ast.Raise) and scope.certain:
            self._refuse(node, node.test, scope)
        self._block(chosen, scope)

    def _quietly(self, body: list[ast.stmt], scope: _Scope) -> None:
        """A body that may or may not run: what ends it ends nothing else."""
        try:
            self._block(body, scope)
        except (_Stop, _Return):
            return

    def _doubtful(self, body: list[ast.stmt], scope: _Scope, enter: bool = True) -> None:
        if enter:
            inner = _Scope(scope.placed, dict(scope.names), scope.owner, scope.this, certain=False)
            self._quietly(body, inner)
        self._forget(body, scope)

    def _forget(self, body: list[ast.stmt], scope: _Scope) -> None:
        """Names and attributes a part stores are unknown after it."""
        for statement in body:
            for name in _stored(statement):
                scope.names[name] = NOTHING
            this = scope.names.get(scope.this)
            if this is not None and isinstance(this.of, Instance):
                for each in nodes(statement):
                    if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store):
                        this.of.attributes[each.attr] = NOTHING

    def _for(self, node: ast.For, scope: _Scope) -> None:
        items = self._value(node.iter, scope)
        runs = isinstance(items.of, range | tuple | list) and len(items.of) > 0
        self._forget([node], scope)
        has_end = any(isinstance(each, ast.Break | ast.Continue | ast.Return) for each in nodes(node))
        inner = _Scope(scope.placed, scope.names, scope.owner, scope.this, scope.certain and runs and not has_end)
        self._quietly(node.body, inner)
        self._forget([node], scope)

    def _assert(self, node: ast.Assert, scope: _Scope) -> None:
        test = self._value(node.test, scope)
        if test.known and not test.of and scope.certain:
            self._refuse(node, node.test, scope)
            raise _Stop

    def _refuse(self, node: ast.stmt, test: ast.expr, scope: _Scope) -> None:
        if self.construction is None:
            return
        values: list[tuple[str, Value]] = []
        for each in nodes(test):
            if isinstance(each, ast.Name | ast.Attribute):
                value = self._value(each, scope)
                if value.known and isinstance(value.of, _PLAIN):
                    values.append((ast.unparse(each), value))
        site = Site(scope.placed, node)
        self.found.refused.append(Refused(site, test, tuple(values), self.construction, self.explicit))

    def _assign(self, target: ast.expr, value: Value, scope: _Scope, node: ast.AST) -> None:
        if isinstance(target, ast.Name):
            scope.names[target.id] = value
        elif isinstance(target, ast.Tuple | ast.List):
            parts = value.of if isinstance(value.of, tuple | list) and len(value.of) == len(target.elts) else None
            for index, inner in enumerate(target.elts):
                self._assign(inner, NOTHING if parts is None else _wrapped(parts[index], value), scope, node)
        elif isinstance(target, ast.Attribute):
            owner = self._value(target.value, scope)
            if isinstance(owner.of, Instance):
                owner.of.attributes[target.attr] = value
            if isinstance(owner.of, Layer) and target.attr == "weight" and scope.certain:
                self._tie(owner.of, value, Site(scope.placed, node))
        elif isinstance(target, ast.Subscript):
            self._value(target.value, scope)
            if isinstance(target.value, ast.Name):
                scope.names[target.value.id] = NOTHING

    def _tie(self, target: Layer, value: Value, site: Site) -> None:
        if isinstance(value.of, _Weight) and self.construction is not None:
            self.found.tied.append(Tied(site, target, value.of.layer, self.construction))

    # expressions

    def _value(self, node: ast.expr, scope: _Scope) -> Value:
        self._tick()
        method = _EXPRESSIONS.get(type(node))
        if method is None:
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr) and not isinstance(node, ast.Lambda):
                    self._value(child, scope)
            return NOTHING
        return method(self, node, scope)

    def _constant(self, node: ast.Constant, scope: _Scope) -> Value:
        if not isinstance(node.value, _PLAIN) or (type(node.value) is int and abs(node.value) > LARGEST):
            return NOTHING
        return Value(node.value, Site(scope.placed, node))

    def _name(self, node: ast.Name, scope: _Scope) -> Value:
        found = scope.names.get(node.id)
        if found is not None:
            return found
        if node.id in self.file.classes:
            return Value(self.file.classes[node.id])
        return self.globals.get(node.id, NOTHING)

    def _attribute(self, node: ast.Attribute, scope: _Scope) -> Value:
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
                return Value(_Weight(owner.of))
            return owner.of.arguments.get(node.attr, NOTHING)
        if isinstance(owner.of, _Parsed):
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
        return self._value(node, _Scope(found.placed, {}))

    def _binary(self, node: ast.BinOp, scope: _Scope) -> Value:
        left, right = self._value(node.left, scope), self._value(node.right, scope)
        apply = _BINARY.get(type(node.op))
        if apply is None or left.number is None or right.number is None:
            return NOTHING
        try:
            result = apply(left.of, right.of)
        except (ArithmeticError, ValueError):
            return NOTHING
        if abs(result) > LARGEST:
            return NOTHING
        return Value(result, left.origin or right.origin)

    def _unary(self, node: ast.UnaryOp, scope: _Scope) -> Value:
        value = self._value(node.operand, scope)
        if isinstance(node.op, ast.Not):
            return Value(not value.of) if value.known and isinstance(value.of, _PLAIN) else NOTHING
        if isinstance(node.op, ast.USub) and value.number is not None:
            return Value(-value.of, Site(scope.placed, node))
        return NOTHING

    def _boolean(self, node: ast.BoolOp, scope: _Scope) -> Value:
        values = [self._value(item, scope) for item in node.values]
        stop = isinstance(node.op, ast.Or)
        for value in values:
            if not value.known or not isinstance(value.of, _PLAIN):
                return NOTHING
            if bool(value.of) == stop:
                return value
        return values[-1]

    def _compare(self, node: ast.Compare, scope: _Scope) -> Value:
        values = [self._value(item, scope) for item in (node.left, *node.comparators)]
        if len(values) != 2:
            return NOTHING
        left, right = values
        comparison = node.ops[0]
        if not left.known or not right.known:
            return NOTHING
        if isinstance(comparison, ast.Is | ast.IsNot):
            if right.of is None and isinstance(left.of, (*_PLAIN, Layer, Instance, tuple, list)):
                return Value((left.of is None) == isinstance(comparison, ast.Is))
            return NOTHING
        apply = _COMPARE.get(type(comparison))
        if apply is None or not isinstance(left.of, _PLAIN) or not isinstance(right.of, _PLAIN):
            return NOTHING
        try:
            return Value(bool(apply(left.of, right.of)))
        except TypeError:
            return NOTHING

    def _choice(self, node: ast.IfExp, scope: _Scope) -> Value:
        test = self._value(node.test, scope)
        if not test.known:
            inner = _Scope(scope.placed, dict(scope.names), scope.owner, scope.this, certain=False)
            self._value(node.body, inner)
            self._value(node.orelse, inner)
            return NOTHING
        return self._value(node.body if test.of else node.orelse, scope)

    def _sequence(self, node: ast.Tuple | ast.List, scope: _Scope) -> Value:
        items = [self._value(item, scope) for item in node.elts]
        if any(isinstance(item, ast.Starred) for item in node.elts):
            return NOTHING
        return Value(tuple(items), Site(scope.placed, node))

    def _dict(self, node: ast.Dict, scope: _Scope) -> Value:
        values = [self._value(item, scope) for item in node.values]
        if not all(isinstance(key, ast.Constant) for key in node.keys):
            return NOTHING
        return Value({key.value: value for key, value in zip(node.keys, values, strict=True)})  # type: ignore[union-attr]  # all are constants

    def _subscript(self, node: ast.Subscript, scope: _Scope) -> Value:
        owner, key = self._value(node.value, scope), self._value(node.slice, scope)
        if isinstance(owner.of, dict) and isinstance(key.of, _PLAIN):
            found = owner.of.get(key.of, NOTHING)
            return found if isinstance(found, Value) else NOTHING
        if isinstance(owner.of, tuple) and key.integer is not None and -len(owner.of) <= key.of < len(owner.of):
            return _wrapped(owner.of[key.of], owner)
        return NOTHING

    def _comprehension(self, node: ast.ListComp | ast.GeneratorExp, scope: _Scope) -> Value:
        inner = _Scope(scope.placed, dict(scope.names), scope.owner, scope.this, scope.certain)
        for generator in node.generators:
            items = self._value(generator.iter, inner)
            runs = isinstance(items.of, range | tuple | list) and len(items.of) > 0 and not generator.ifs
            inner.certain = inner.certain and runs
            for name in _stored(generator.target):
                inner.names[name] = NOTHING
        self._value(node.elt, inner)
        return NOTHING

    def _starred(self, node: ast.Starred, scope: _Scope) -> Value:
        self._value(node.value, scope)
        return NOTHING

    # calls

    def _call(self, node: ast.Call, scope: _Scope) -> Value:
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
            return Value(_Parsed())
        called = self._value(node.func, scope)
        self._own_method(node, scope, {key: value for key, value in named.items() if key is not None}, positional)
        if isinstance(called.of, ClassFacts) and not has_stars(node):
            given = {name: value for name, value in named.items() if name is not None}
            return self._construct(called.of, given, tuple(positional), scope)
        return NOTHING

    def _own_method(self, node: ast.Call, scope: _Scope, named: dict[str, Value], positional: list[Value]) -> None:
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
        scope: _Scope,
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
        scope: _Scope,
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

    def _super(self, node: ast.Call, scope: _Scope) -> None:
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
            self._block(function.body, _Scope(owner.placed, names, owner, this, certain))
        except _Return:
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
        return self._value(default, _Scope(owner.placed, {}))


class _Parsed:
    """What ``parse_args()`` returns: every option has its default unless the user says otherwise."""


@dataclass(frozen=True)
class _Weight:
    layer: Layer


_EXPRESSIONS: dict[type[ast.AST], Callable[[_Evaluator, Any, _Scope], Value]] = {
    ast.Constant: _Evaluator._constant,
    ast.Name: _Evaluator._name,
    ast.Attribute: _Evaluator._attribute,
    ast.BinOp: _Evaluator._binary,
    ast.UnaryOp: _Evaluator._unary,
    ast.BoolOp: _Evaluator._boolean,
    ast.Compare: _Evaluator._compare,
    ast.IfExp: _Evaluator._choice,
    ast.Tuple: _Evaluator._sequence,
    ast.List: _Evaluator._sequence,
    ast.Dict: _Evaluator._dict,
    ast.Subscript: _Evaluator._subscript,
    ast.ListComp: _Evaluator._comprehension,
    ast.GeneratorExp: _Evaluator._comprehension,
    ast.Starred: _Evaluator._starred,
    ast.Call: _Evaluator._call,
}


def _wrapped(item: Any, container: Value) -> Value:
    return item if isinstance(item, Value) else Value(item, container.origin)


@lru_cache(maxsize=4096)
def _stored(node: ast.AST) -> tuple[str, ...]:
    return tuple(
        each.id for each in nodes(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store | ast.Del)
    )


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
