"""Execution of statements."""

from __future__ import annotations

import ast
from typing import Any

from neurarch_schemas.interpreter.budgets import BudgetExceeded
from neurarch_schemas.interpreter.core import HOST_ERRORS, Core
from neurarch_schemas.interpreter.effects import fills_only
from neurarch_schemas.interpreter.expressions import Expressions
from neurarch_schemas.interpreter.generators import Generators
from neurarch_schemas.interpreter.lazy_functions import LazyFunction
from neurarch_schemas.interpreter.patterns import Patterns
from neurarch_schemas.interpreter.scopes import Frame, assigned_names, leaves_early
from neurarch_schemas.interpreter.signals import BREAK, CONTINUE, Return
from neurarch_schemas.interpreter.torch_nn.tensor import Tensor
from neurarch_schemas.interpreter.values import MISSING, Class, Raised, Unknown, UnknownTruth, Value, derived
from neurarch_schemas.interpreter.work import rounds


class Statements(Expressions, Patterns, Generators, Core):
    def __init__(self) -> None:
        super().__init__()
        self.executors = {
            getattr(ast, name[1:]): getattr(self, name)
            for name in dir(type(self))
            if name.startswith("_")
            and name[1:2].isupper()
            and hasattr(ast, name[1:])
            and issubclass(getattr(ast, name[1:]), ast.stmt)
        }
        self.executors[LazyFunction] = self._FunctionDef

    def execute(self, body: list[ast.stmt], frame: Frame) -> Value:
        """Run statements; None, or what ends the block: Return, BREAK or CONTINUE."""
        meter = self.meter
        executors = self.executors
        for statement in body:
            meter.steps += 1
            if meter.steps > meter.next_check:
                meter.check()
            frame.line = statement.lineno
            try:
                signal = executors[statement.__class__](statement, frame)
            except UnknownTruth as error:
                self._pass_over(statement, error.unknown, frame)
                continue
            if signal is not None:
                return signal
        return None

    def _pass_over(self, statement: ast.stmt, unknown: Unknown, frame: Frame) -> None:
        """A statement that cannot be carried out: what it binds is unknown."""
        self.taint(unknown.reason)
        for name in assigned_names([statement]):
            frame.locals[name] = Unknown(unknown.reason)

    def _Expr(self, node: ast.Expr, frame: Frame) -> Value:
        if node.value.__class__ is not ast.Constant:
            self.evaluate(node.value, frame)

    def _Pass(self, node: ast.Pass, frame: Frame) -> Value:
        return None

    def _Global(self, node: ast.Global, frame: Frame) -> Value:
        return None

    _Nonlocal = _Global

    def _Return(self, node: ast.Return, frame: Frame) -> Value:
        return Return(None if node.value is None else self.evaluate(node.value, frame))

    def _Break(self, node: ast.Break, frame: Frame) -> Value:
        return BREAK

    def _Continue(self, node: ast.Continue, frame: Frame) -> Value:
        return CONTINUE

    def _Assign(self, node: ast.Assign, frame: Frame) -> Value:
        value = self.evaluate(node.value, frame)
        frame.line = node.lineno
        for target in node.targets:
            if target.__class__ is ast.Name and frame.global_names is None and frame.nonlocals is None:
                frame.locals[target.id] = value
            else:
                self.assign(target, value, frame)

    def _AnnAssign(self, node: ast.AnnAssign, frame: Frame) -> Value:
        target = node.target
        if isinstance(target, ast.Name) and (frame.is_class or frame.function is None):
            annotations = frame.locals.get("__annotations__")
            if annotations is None:
                annotations = frame.locals["__annotations__"] = {}
            annotations[target.id] = Annotation(node.annotation, frame)
        if node.value is not None:
            self.assign(target, self.evaluate(node.value, frame), frame)

    def _AugAssign(self, node: ast.AugAssign, frame: Frame) -> Value:
        target = node.target
        operator = node.op.__class__
        if isinstance(target, ast.Name):
            value = self.evaluate(ast.copy_location(ast.Name(target.id, ast.Load()), target), frame)
            self.assign(target, self.in_place(operator, value, self.evaluate(node.value, frame)), frame)
        elif isinstance(target, ast.Attribute):
            owner = self.evaluate(target.value, frame)
            value = self.get_attr(owner, target.attr)
            self.set_attr(owner, target.attr, self.in_place(operator, value, self.evaluate(node.value, frame)))
        elif isinstance(target, ast.Subscript):
            owner = self.evaluate(target.value, frame)
            key = self.evaluate(target.slice, frame)
            value = self.subscript(owner, key)
            self.set_item(owner, key, self.in_place(operator, value, self.evaluate(node.value, frame)))

    def assign(self, target: ast.expr, value: Value, frame: Frame) -> None:
        kind = target.__class__
        if kind is ast.Name:
            name: str = target.id  # type: ignore[attr-defined]
            if frame.global_names is not None and name in frame.global_names:
                self.touch(frame.module.namespace)
                frame.module.namespace[name] = value
            elif frame.nonlocals is not None and name in frame.nonlocals:
                scope = frame.parent
                while scope is not None and (scope.is_class or name not in scope.locals):
                    scope = scope.parent
                self.touch((scope or frame).locals)
                (scope or frame).locals[name] = value
            else:
                frame.locals[name] = value
        elif kind is ast.Attribute:
            owner = self.evaluate(target.value, frame)  # type: ignore[attr-defined]
            self.frame = frame
            self.set_attr(owner, target.attr, value)  # type: ignore[attr-defined]
        elif kind is ast.Subscript:
            owner = self.evaluate(target.value, frame)  # type: ignore[attr-defined]
            self.set_item(owner, self.evaluate(target.slice, frame), value)  # type: ignore[attr-defined]
        elif kind is ast.Starred:
            self.assign(target.value, value, frame)  # type: ignore[attr-defined]
        else:
            self._unpack(target.elts, value, frame)  # type: ignore[attr-defined]

    def _unpack(self, targets: list[ast.expr], value: Value, frame: Frame) -> None:
        if type(value) is Unknown:
            for target in targets:
                self.assign(target, value, frame)
            return
        try:
            items = list(value) if value.__class__ in (tuple, list) else self._take(value, len(targets))
        except UnknownTruth as error:
            self._unpack(targets, error.unknown, frame)
            return
        star = next((index for index, target in enumerate(targets) if target.__class__ is ast.Starred), None)
        if star is None:
            if len(items) != len(targets):
                few = len(items) < len(targets)
                self.fail(
                    "ValueError",
                    f"not enough values to unpack (expected {len(targets)}, got {len(items)})"
                    if few
                    else f"too many values to unpack (expected {len(targets)})",
                )
            for target, item in zip(targets, items, strict=True):
                self.assign(target, item, frame)
            return
        after = len(targets) - star - 1
        if len(items) < star + after:
            self.fail("ValueError", "not enough values to unpack")
        for target, item in zip(targets[:star], items[:star], strict=True):
            self.assign(target, item, frame)
        self.assign(targets[star], items[star : len(items) - after], frame)
        if after:
            for target, item in zip(targets[star + 1 :], items[-after:], strict=True):
                self.assign(target, item, frame)

    def _take(self, value: Value, count: int) -> list[Value]:
        items = []
        for item in self.iterate(value):
            items.append(item)
            self.meter.size(len(items))
        return items

    def _Delete(self, node: ast.Delete, frame: Frame) -> Value:
        for target in node.targets:
            if isinstance(target, ast.Name):
                if frame.locals.pop(target.id, MISSING) is MISSING:
                    self.touch(frame.module.namespace)
                    frame.module.namespace.pop(target.id, None)
            elif isinstance(target, ast.Attribute):
                self.del_attr(self.evaluate(target.value, frame), target.attr)
            elif isinstance(target, ast.Subscript):
                self.del_item(self.evaluate(target.value, frame), self.evaluate(target.slice, frame))
            elif isinstance(target, ast.Tuple | ast.List):
                self._Delete(ast.Delete(target.elts), frame)

    def _FunctionDef(self, node: ast.FunctionDef, frame: Frame) -> Value:
        function: Value = self.make_function(node, frame, node.name)
        self.assign(ast.Name(node.name, ast.Store()), self._decorate(function, node.decorator_list, frame), frame)

    def _decorate(self, value: Value, decorators: list[ast.expr], frame: Frame) -> Value:
        """Unknown decorators are taken to return what they are given."""
        for decorator in reversed(decorators):
            function = self.evaluate(decorator, frame)
            if function.__class__ is not Unknown:
                self.frame = frame
                result = self.call(function, [value], {})
                value = value if result.__class__ is Unknown else result
        return value

    _AsyncFunctionDef = _FunctionDef

    def _ClassDef(self, node: ast.ClassDef, frame: Frame) -> Value:
        cls = self.make_class(node, frame)
        self.assign(ast.Name(node.name, ast.Store()), self._decorate(cls, node.decorator_list, frame), frame)

    def _Import(self, node: ast.Import, frame: Frame) -> Value:
        self.import_statement(node, frame)

    _ImportFrom = _Import

    def _If(self, node: ast.If, frame: Frame) -> Value:
        if frame.parent is None and frame.function is None and node.orelse and _replaces_module(node):
            eager, self.eager = self.eager, False
            try:
                return self.execute(node.body, frame)
            finally:
                self.eager = eager
        test = self.evaluate(node.test, frame)
        try:
            chosen = self.truth(test)
        except UnknownTruth as error:
            chosen = self.decide(error.unknown, node, frame, node.body, node.orelse)
            signal = self.execute(node.body if chosen else node.orelse, frame)
            # Names given only data on the path taken stay open.
            self._blur(node.orelse if chosen else node.body, node.body if chosen else node.orelse, error.unknown, frame)
            return signal
        return self.execute(node.body if chosen else node.orelse, frame)

    def _blur(self, other: list[ast.stmt], taken: list[ast.stmt], unknown: Unknown, frame: Frame) -> None:
        if any(isinstance(statement, ast.Raise) for statement in other):
            return
        for name in assigned_names(other) | assigned_names(taken):
            value = frame.locals.get(name, MISSING)
            if value is None or isinstance(value, bool | int | float | str) or value is MISSING:
                frame.locals[name] = derived(unknown)

    def _While(self, node: ast.While, frame: Frame) -> Value:
        while True:
            try:
                if not self.truth(self.evaluate(node.test, frame)):
                    break
            except UnknownTruth as error:
                self.taint(f"a loop that depends on an unknown value: {error.unknown.reason}")
                return None
            signal = self.execute(node.body, frame)
            if signal is BREAK:
                return None
            if signal is not None and signal is not CONTINUE:
                return signal
            self.meter.steps += 1
            if self.meter.steps > self.meter.next_check:
                self.meter.check()
        return self.execute(node.orelse, frame)

    def _For(self, node: ast.For, frame: Frame) -> Value:
        meter = self.meter
        try:
            values = self.evaluate(node.iter, frame)
            if values.__class__ is range and rounds(values) > meter.budgets.steps and not leaves_early(node):
                raise BudgetExceeded(f"a loop of {rounds(values):,} rounds")
            iterator = self.iterate(values)
        except UnknownTruth as error:
            return self._unknown_loop(node, error.unknown, frame)
        while True:
            try:
                value = next(iterator)
            except StopIteration:
                break
            except UnknownTruth as error:
                return self._unknown_loop(node, error.unknown, frame)
            meter.steps += 1
            if meter.steps > meter.next_check:
                meter.check()
            self.assign(node.target, value, frame)
            signal = self.execute(node.body, frame)
            if signal is BREAK:
                return None
            if signal is not None and signal is not CONTINUE:
                return signal
        return self.execute(node.orelse, frame)

    _AsyncFor = _For

    def _unknown_loop(self, node: ast.For, unknown: Unknown, frame: Frame) -> Value:
        """A loop over a value that cannot be told is passed over; what it binds or fills is unknown."""
        bound = assigned_names([node])
        filled = fills_only(node, bound) if unknown.data else None
        if filled is not None and all(
            name in bound if (value := frame.locals.get(name, MISSING)) is MISSING else _holds_data(value)
            for name in filled
        ):
            frame.locals.update(dict.fromkeys(filled, unknown))
        else:
            self.taint(f"a loop over an unknown value: {unknown.reason}")
            frame.locals.update(dict.fromkeys(bound, Unknown(unknown.reason)))
        return None

    def _Assert(self, node: ast.Assert, frame: Frame) -> Value:
        try:
            holds = self.truth(self.evaluate(node.test, frame))
        except UnknownTruth:
            return
        if not holds:
            message = "" if node.msg is None else self.evaluate(node.msg, frame)
            raise Raised(
                self.call(self.builtins["AssertionError"], [message] if message != "" else [], {}), self.where()
            )

    def _Raise(self, node: ast.Raise, frame: Frame) -> Value:
        self.frame = frame
        if node.exc is None:
            scope: Frame | None = frame
            while scope is not None:
                if "<exception>" in scope.locals:
                    raise Raised(scope.locals["<exception>"], self.where())
                scope = scope.parent
            self.fail("RuntimeError", "No active exception to reraise")
        value = self.evaluate(node.exc, frame)
        if isinstance(value, Class):
            value = self.call(value, [], {})
        if type(value) is Unknown:
            value = self.raised("Exception", value.reason).value
        raise Raised(value, self.where())

    def handler_for(self, node: ast.Try, error: Raised, frame: Frame) -> ast.ExceptHandler | None:
        for handler in node.handlers:
            if handler.type is None:
                return handler
            classes = self.evaluate(handler.type, frame)
            try:
                if self.truth(self.is_instance(error.value, classes)):
                    return handler
            except UnknownTruth:
                continue
        return None

    def _catches_import_error(self, node: ast.Try) -> bool:
        for handler in node.handlers:
            if handler.type is None:
                return True
            names = {each.id for each in ast.walk(handler.type) if isinstance(each, ast.Name)}
            if names & {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}:
                return True
        return False

    def _Try(self, node: ast.Try, frame: Frame) -> Value:
        guarded = self._catches_import_error(node)
        depth = self.call_depth
        saved = self.import_guard
        try:
            self.import_guard = saved + guarded
            try:
                signal = self.execute(node.body, frame)
            finally:
                self.import_guard = saved
        except Raised as error:
            self.call_depth = depth
            handler = self.handler_for(node, error, frame)
            if handler is None:
                self.finish(node, frame)
                raise
            signal = self._handle(node, handler, error, frame)
        else:
            if signal is None:
                signal = self.execute(node.orelse, frame)
        final = self.execute(node.finalbody, frame)
        return signal if final is None else final

    _TryStar = _Try
    call_depth: int

    def _handle(self, node: ast.Try, handler: ast.ExceptHandler, error: Raised, frame: Frame) -> Value:
        outer = frame.locals.get("<exception>", MISSING)
        frame.locals["<exception>"] = error.value
        if handler.name is not None:
            frame.locals[handler.name] = error.value
        try:
            return self.execute(handler.body, frame)
        except Raised:
            self.finish(node, frame)
            raise
        finally:
            if outer is MISSING:
                frame.locals.pop("<exception>", None)
            else:
                frame.locals["<exception>"] = outer
            if handler.name is not None:
                frame.locals.pop(handler.name, None)

    def finish(self, node: ast.Try, frame: Frame) -> None:
        self.execute(node.finalbody, frame)

    def enter(self, item: ast.withitem, frame: Frame) -> Value:
        manager = self.evaluate(item.context_expr, frame)
        entered: Value = manager
        if type(manager) is not Unknown:
            enter = self.find_attr(manager, "__enter__")
            entered = derived(Unknown("a context manager")) if enter is MISSING else self.call(enter, [], {})
        if item.optional_vars is not None:
            self.assign(item.optional_vars, entered, frame)
        return manager

    def leave(self, manager: Value, error: Raised | None) -> bool:
        """Whether the manager swallows the error."""
        if type(manager) is Unknown:
            return False
        leave = self.find_attr(manager, "__exit__")
        if leave is MISSING:
            return False
        args = [None, None, None] if error is None else [error.value.cls, error.value, None]
        result = self.call(leave, args, {})
        return error is not None and result is True

    def _With(self, node: ast.With, frame: Frame) -> Value:
        return self._with(node.items, node.body, frame)

    _AsyncWith = _With

    def _with(self, items: list[ast.withitem], body: list[ast.stmt], frame: Frame) -> Value:
        if not items:
            return self.execute(body, frame)
        manager = self.enter(items[0], frame)
        suppresses = isinstance(manager, ImportSuppressor)
        saved = self.import_guard
        self.import_guard = saved + suppresses
        try:
            signal = self._with(items[1:], body, frame)
        except Raised as error:
            if self.leave(manager, error):
                return None
            raise
        finally:
            self.import_guard = saved
        self.leave(manager, None)
        return signal

    def _TypeAlias(self, node: Any, frame: Frame) -> Value:
        self.assign(node.name, Unknown("a type alias", data=True), frame)


def _holds_data(value: Value) -> bool:
    """Whether nothing that a module is built of is lost when a local name becomes unknown."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple | set):
        return all(_holds_data(each) for each in value)
    return value is None or isinstance(value, str | int | float | Tensor) or type(value) is Unknown


class ImportSuppressor:
    """``contextlib.suppress(ImportError)``."""


def _replaces_module(node: ast.If) -> bool:
    """``if TYPE_CHECKING: imports, else: sys.modules[__name__] = a lazy module``: both sides hold the same names."""
    names = {each.id for each in ast.walk(node.test) if isinstance(each, ast.Name)}
    if "TYPE_CHECKING" not in names:
        return False
    return any(
        isinstance(statement, ast.Assign)
        and isinstance(statement.targets[0], ast.Subscript)
        and ast.unparse(statement.targets[0]).startswith("sys.modules[")
        for statement in node.orelse
    )


class Annotation:
    """An annotation, evaluated only when somebody asks for its value."""

    __slots__ = ("frame", "node")

    def __init__(self, node: ast.expr, frame: Frame) -> None:
        self.node = node
        self.frame = frame

    def text(self) -> str:
        return ast.unparse(self.node)


__all__ = ["BREAK", "CONTINUE", "HOST_ERRORS", "Annotation", "ImportSuppressor", "Return", "Statements"]
