"""Evaluation of expressions."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

from neurarch_schemas.interpreter.core import HOST_ERRORS, Core
from neurarch_schemas.interpreter.lazy_functions import LazyFunction
from neurarch_schemas.interpreter.scopes import Frame
from neurarch_schemas.interpreter.values import (
    MISSING,
    Function,
    Generator,
    LazyImport,
    Raised,
    Unknown,
    UnknownTruth,
    Value,
    derived,
)
from neurarch_schemas.interpreter.work import charge, rounds


class Expressions(Core):
    evaluators: dict[type, Callable[[Any, Frame], Value]]

    def __init__(self) -> None:
        super().__init__()
        self.evaluators = {
            getattr(ast, name[1:]): getattr(self, name)
            for name in dir(type(self))
            if name.startswith("_")
            and name[1:2].isupper()
            and hasattr(ast, name[1:])
            and issubclass(getattr(ast, name[1:]), ast.expr)
        }

    def evaluate(self, node: ast.expr, frame: Frame) -> Value:
        return self.evaluators[node.__class__](node, frame)

    def _Constant(self, node: ast.Constant, frame: Frame) -> Value:
        return node.value

    def _Name(self, node: ast.Name, frame: Frame) -> Value:
        name = node.id
        variables = frame.locals
        if name in variables:
            value = variables[name]
            if value.__class__ is LazyImport:
                return self.resolve(value, variables, name)
            return value
        if frame.global_names is None or name not in frame.global_names:
            scope = frame.parent
            while scope is not None:
                if not scope.is_class and name in scope.locals:
                    value = scope.locals[name]
                    if value.__class__ is LazyImport:
                        return self.resolve(value, scope.locals, name)
                    return value
                scope = scope.parent
        value = self.load_global(frame.module, name)
        if value is MISSING:
            if name == "__class__":
                scope = frame
                while scope is not None:
                    if scope.class_cell is not None:
                        return scope.class_cell
                    scope = scope.parent
            self.fail("NameError", f"name '{name}' is not defined")
        return value

    def _Attribute(self, node: ast.Attribute, frame: Frame) -> Value:
        return self.get_attr(self.evaluate(node.value, frame), node.attr)

    def _Call(self, node: ast.Call, frame: Frame) -> Value:
        function = self.evaluate(node.func, frame)
        args: list[Value] = []
        for arg in node.args:
            if arg.__class__ is ast.Starred:
                values = self.evaluate(arg.value, frame)
                try:
                    args.extend(self.iterate(values))
                except UnknownTruth as error:
                    self.taint(f"star argument: {error.unknown.reason}")
                    return Unknown(error.unknown.reason)
                self.meter.size(len(args), "arguments")
            else:
                args.append(self.evaluate(arg, frame))
        kwargs: dict[str, Value] = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                values = self.evaluate(keyword.value, frame)
                if type(values) is Unknown:
                    return self._unknown_keywords(function, values)
                for key, value in self._items(values):
                    if type(key) is Unknown:
                        return self._unknown_keywords(function, key)
                    if key in kwargs:
                        self.fail("TypeError", f"got multiple values for keyword argument '{key}'")
                    kwargs[key] = value
            else:
                if keyword.arg in kwargs:
                    self.fail("TypeError", f"got multiple values for keyword argument '{keyword.arg}'")
                kwargs[keyword.arg] = self.evaluate(keyword.value, frame)
        frame.line = node.lineno
        self.meter.steps += 1
        if function.__class__ is Function:
            return self.call(function, args, kwargs)
        self.frame = frame
        return self.call(function, args, kwargs)

    def _unknown_keywords(self, function: Value, unknown: Unknown) -> Unknown:
        self.taint(f"keyword arguments: {unknown.reason}")
        return Unknown(unknown.reason)

    def _items(self, mapping: Value) -> list[tuple[Value, Value]]:
        """Pairs of a mapping, as ``**mapping`` reads it."""
        if mapping.__class__ is dict:
            return list(mapping.items())
        if isinstance(mapping, dict) and self.type_of(mapping).lookup("keys").__class__ is not Function:
            return list(dict.items(mapping))
        keys = self.call(self.get_attr(mapping, "keys"), [], {})
        return [(key, self.subscript(mapping, key)) for key in self.iterate(keys)]

    def _BinOp(self, node: ast.BinOp, frame: Frame) -> Value:
        return self.binary(node.op.__class__, self.evaluate(node.left, frame), self.evaluate(node.right, frame))

    def _UnaryOp(self, node: ast.UnaryOp, frame: Frame) -> Value:
        value = self.evaluate(node.operand, frame)
        kind = node.op.__class__
        if kind is ast.Not:
            try:
                return not self.truth(value)
            except UnknownTruth as error:
                return derived(error.unknown)
        try:
            if kind is ast.USub:
                return -value
            if kind is ast.UAdd:
                return +value
            return ~value
        except HOST_ERRORS as error:
            raise self.convert(error) from None

    def _BoolOp(self, node: ast.BoolOp, frame: Frame) -> Value:
        stop = node.op.__class__ is ast.Or
        value: Value = None
        doubt: Unknown | None = None
        for operand in node.values:
            try:
                value = self.evaluate(operand, frame)
            except Raised:
                if doubt is None:
                    raise
                return doubt  # most likely what stands before it is there to keep it from being asked
            try:
                if self.truth(value) is stop:
                    # unknown or True is True whatever the unknown is, as a condition
                    if doubt is not None and value is not stop:
                        return doubt
                    return value
            except UnknownTruth as error:
                if doubt is None:
                    doubt = value if type(value) is Unknown else derived(error.unknown)
        return value if doubt is None else doubt

    def _Compare(self, node: ast.Compare, frame: Frame) -> Value:
        left = self.evaluate(node.left, frame)
        if len(node.ops) == 1:
            return self.compare(node.ops[0].__class__, left, self.evaluate(node.comparators[0], frame))
        result: Value = True
        for operator, operand in zip(node.ops, node.comparators, strict=True):
            right = self.evaluate(operand, frame)
            result = self.compare(operator.__class__, left, right)
            try:
                if not self.truth(result):
                    return result
            except UnknownTruth as error:
                return derived(error.unknown)
            left = right
        return result

    def _IfExp(self, node: ast.IfExp, frame: Frame) -> Value:
        test = self.evaluate(node.test, frame)
        try:
            chosen = self.truth(test)
        except UnknownTruth as error:
            yes: list[ast.stmt] = [ast.Expr(node.body)]
            no: list[ast.stmt] = [ast.Expr(node.orelse)]
            chosen = self.decide(error.unknown, node, frame, yes, no)
            value = self.evaluate(node.body if chosen else node.orelse, frame)
            if value is None or isinstance(value, bool | int | float | str):
                # both sides are plain data as far as seen: which one stays open
                other = self._peek(node.orelse if chosen else node.body)
                if other is not MISSING and (type(other) is not type(value) or other != value):
                    return derived(error.unknown)
            return value
        return self.evaluate(node.body if chosen else node.orelse, frame)

    def _peek(self, node: ast.expr) -> Value:
        return node.value if isinstance(node, ast.Constant) else MISSING

    def _Subscript(self, node: ast.Subscript, frame: Frame) -> Value:
        return self.subscript(self.evaluate(node.value, frame), self.evaluate(node.slice, frame))

    def _Slice(self, node: ast.Slice, frame: Frame) -> Value:
        return slice(
            None if node.lower is None else self.evaluate(node.lower, frame),
            None if node.upper is None else self.evaluate(node.upper, frame),
            None if node.step is None else self.evaluate(node.step, frame),
        )

    def _sequence(self, elements: list[ast.expr], frame: Frame) -> list[Value]:
        items: list[Value] = []
        for element in elements:
            if element.__class__ is ast.Starred:
                items.extend(self.iterate(self.evaluate(element.value, frame)))
                self.meter.size(len(items))
            else:
                items.append(self.evaluate(element, frame))
        return items

    def _List(self, node: ast.List, frame: Frame) -> Value:
        return self._collect(list, node.elts, frame)

    def _Tuple(self, node: ast.Tuple, frame: Frame) -> Value:
        return self._collect(tuple, node.elts, frame)

    def _Set(self, node: ast.Set, frame: Frame) -> Value:
        return self._collect(set, node.elts, frame)

    def _collect(self, kind: type, elements: list[ast.expr], frame: Frame) -> Value:
        try:
            items = self._sequence(elements, frame)
            if kind is set:
                charge(self.meter, items)
            return kind(items)
        except UnknownTruth as error:
            return error.unknown
        except HOST_ERRORS as error:
            raise self.convert(error) from None

    def _Dict(self, node: ast.Dict, frame: Frame) -> Value:
        result: dict[Value, Value] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                other = self.evaluate(value, frame)
                if type(other) is Unknown:
                    return other
                result.update(self._items(other))
            else:
                name = self.evaluate(key, frame)
                charge(self.meter, name)
                try:
                    result[name] = self.evaluate(value, frame)
                except TypeError as error:
                    raise self.convert(error) from None
        return result

    def _JoinedStr(self, node: ast.JoinedStr, frame: Frame) -> Value:
        pieces: list[str] = []
        for each in node.values:
            piece = self.evaluate(each, frame)
            if type(piece) is Unknown:
                return derived(piece)
            pieces.append(piece)
        text = "".join(pieces)
        self.meter.size(len(text), "a string", 50)
        return text

    def _FormattedValue(self, node: ast.FormattedValue, frame: Frame) -> Value:
        value = self.evaluate(node.value, frame)
        spec = "" if node.format_spec is None else self.evaluate(node.format_spec, frame)
        if type(value) is Unknown or type(spec) is Unknown:
            return derived(value, spec)
        if any(len(digits) > 4 for digits in _digit_runs(spec)):
            self.fail("ValueError", "format width is too large")
        charge(self.meter, value)
        try:
            if node.conversion == 114:
                value = repr(value)
            elif node.conversion == 115:
                value = str(value)
            elif node.conversion == 97:
                value = ascii(value)
            return format(value, spec)
        except UnknownTruth as error:
            return derived(error.unknown)
        except HOST_ERRORS as error:
            raise self.convert(error) from None

    def _Lambda(self, node: ast.Lambda, frame: Frame) -> Value:
        return self.make_function(node, frame, "<lambda>")

    def make_function(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, frame: Frame, name: str
    ) -> Function:
        defaults: list[Value] = []
        kwdefaults: dict[str, Value] = {}
        if node.__class__ is not LazyFunction or not node.is_plain:
            arguments = node.args
            defaults = [self.evaluate(default, frame) for default in arguments.defaults]
            kwdefaults = {
                argument.arg: self.evaluate(default, frame)
                for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
                if default is not None
            }
        qualname = name
        if frame.is_class:
            qualname = f"{frame.locals.get('__qualname__', '')}.{name}"
        elif frame.function is not None:
            qualname = f"{frame.function.qualname}.<locals>.{name}"
        return Function(self, node, frame, name, qualname, defaults, kwdefaults, False)  # type: ignore[arg-type]  # self is the Machine

    def _NamedExpr(self, node: ast.NamedExpr, frame: Frame) -> Value:
        value = self.evaluate(node.value, frame)
        target = frame
        while target.function is None and target.parent is not None and not target.is_class:
            target = target.parent
        self.assign(node.target, value, target)
        return value

    # Comprehensions run in a frame of their own that closes over the enclosing one.

    def _numeric_table(self, node: ast.ListComp, frame: Frame) -> Value:
        """A long table of numbers by arithmetic: its length matters, its values are left unknown."""
        generator = node.generators[0]
        if len(node.generators) > 1 or generator.ifs or not _is_arithmetic(node.elt):
            return MISSING
        values = self.evaluate(generator.iter, frame)
        if values.__class__ is not range:
            return [self.evaluate(node.elt, inner) for inner in self._comprehend(node.generators, frame, values)]
        depth = 1
        inner_node = node.elt
        while isinstance(inner_node, ast.ListComp):
            inner_node = inner_node.elt
            depth += 1
        shortest = 2048 if _is_plain(node.elt) else 512
        if rounds(values) * (64 if depth > 1 else 1) < shortest:
            return [self.evaluate(node.elt, inner) for inner in self._comprehend(node.generators, frame, values)]
        self.meter.size(rounds(values))
        first = next(self._comprehend(node.generators, frame, values))
        item = self.evaluate(node.elt, first)
        return [_blurred(item) for _ in range(len(values))]

    def _ListComp(self, node: ast.ListComp, frame: Frame) -> Value:
        if node.elt.__class__ in (ast.BinOp, ast.ListComp, ast.IfExp):
            try:
                table = self._numeric_table(node, frame)
            except UnknownTruth as error:
                return Unknown(error.unknown.reason)
            if table is not MISSING:
                return table
        result: list[Value] = []
        try:
            first: Value = MISSING
            if len(node.generators) == 1 and not node.generators[0].ifs:
                first = self.evaluate(node.generators[0].iter, frame)
                if first.__class__ is range:
                    self.meter.size(rounds(first))
            for inner in self._comprehend(node.generators, frame, first):
                result.append(self.evaluate(node.elt, inner))
                if len(result) & 1023 == 0:
                    self.meter.size(len(result))
        except UnknownTruth as error:
            return Unknown(error.unknown.reason)
        return result

    def _SetComp(self, node: ast.SetComp, frame: Frame) -> Value:
        try:
            return {self._key(node.elt, inner) for inner in self._comprehend(node.generators, frame)}
        except UnknownTruth as error:
            return derived(error.unknown)

    def _DictComp(self, node: ast.DictComp, frame: Frame) -> Value:
        try:
            return {
                self._key(node.key, inner): self.evaluate(node.value, inner)
                for inner in self._comprehend(node.generators, frame)
            }
        except UnknownTruth as error:
            return Unknown(error.unknown.reason)

    def _key(self, node: ast.expr, frame: Frame) -> Value:
        """What is about to be hashed."""
        key = self.evaluate(node, frame)
        charge(self.meter, key)
        return key

    def _GeneratorExp(self, node: ast.GeneratorExp, frame: Frame) -> Value:
        first = self.evaluate(node.generators[0].iter, frame)
        if type(first) is Unknown:
            return derived(first)
        frames = self._comprehend(node.generators, frame, first)
        return Generator(self.evaluate(node.elt, inner) for inner in frames)

    def _comprehend(self, generators: list[ast.comprehension], frame: Frame, first: Value = MISSING) -> Iterator[Frame]:
        inner = Frame(frame.module, frame, {})
        inner.is_class = False
        inner.line = frame.line
        return self._comprehend_level(generators, 0, inner, frame, first)

    def _comprehend_level(
        self, generators: list[ast.comprehension], level: int, inner: Frame, outer: Frame, first: Value
    ) -> Iterator[Frame]:
        generator = generators[level]
        values = first if first is not MISSING else self.evaluate(generator.iter, outer if level == 0 else inner)
        meter = self.meter
        for value in self.iterate(values):
            meter.steps += 1
            if meter.steps > meter.next_check:
                meter.check()
            self.assign(generator.target, value, inner)
            if all(self._condition(test, inner) for test in generator.ifs):
                if level + 1 < len(generators):
                    yield from self._comprehend_level(generators, level + 1, inner, outer, MISSING)
                else:
                    yield inner

    def _condition(self, test: ast.expr, frame: Frame) -> bool:
        return self.truth(self.evaluate(test, frame))

    def _Starred(self, node: ast.Starred, frame: Frame) -> Value:
        return self.evaluate(node.value, frame)

    def _Await(self, node: ast.Await, frame: Frame) -> Value:
        return derived(Unknown("asynchronous code", data=True))

    def _Yield(self, node: ast.Yield, frame: Frame) -> Value:
        return Unknown("a yield inside an expression", data=True)

    _YieldFrom = _Yield


_ARITHMETIC = (
    ast.BinOp,
    ast.UnaryOp,
    ast.Name,
    ast.Constant,
    ast.operator,
    ast.unaryop,
    ast.expr_context,
    ast.IfExp,
    ast.Compare,
    ast.cmpop,
)


def _is_arithmetic(node: ast.expr) -> bool:
    known = getattr(node, "_arithmetic", None)
    if known is None:
        if isinstance(node, ast.ListComp):
            simple = all(not each.ifs and isinstance(each.target, ast.Name) for each in node.generators)
            known = simple and len(node.generators) == 1 and _is_arithmetic(node.elt)
        else:
            known = all(
                isinstance(each, _ARITHMETIC)
                or (isinstance(each, ast.Call) and not each.keywords and _is_library_name(each.func))
                or _is_library_name(each)
                for each in ast.walk(node)
            )
        node._arithmetic = known  # type: ignore[attr-defined]  # our own mark on the node
    return bool(known)


def _is_library_name(node: ast.AST) -> bool:
    """``np.power``, ``math.pi``: what gives numbers from numbers."""
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id in ("np", "numpy", "math")
    )


def _is_plain(node: ast.expr) -> bool:
    """Whether a table needs no function for its items."""
    return not any(isinstance(each, ast.Call) for each in ast.walk(node))


def _blurred(item: Value) -> Value:
    if isinstance(item, list):
        return [_blurred(each) for each in item] if item and isinstance(item[0], list) else [_TABLE] * len(item)
    return _TABLE


_TABLE = Unknown("a value of a long table", data=True)


def _digit_runs(text: str) -> list[str]:
    return "".join(character if character.isdecimal() else " " for character in text).split()
