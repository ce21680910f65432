"""Generators: the same statements, suspended at each yield that stands as a statement or is assigned."""

from __future__ import annotations

import ast
from collections.abc import Generator as HostGenerator
from typing import Any

from neurarch_schemas.interpreter.core import Core
from neurarch_schemas.interpreter.scopes import Frame
from neurarch_schemas.interpreter.signals import BREAK, Return
from neurarch_schemas.interpreter.values import Raised, UnknownTruth, Value


class Generators(Core):
    def suspend(self, body: list[ast.stmt], frame: Frame) -> HostGenerator[Value, Any, Any]:
        """Run a body that yields; a host generator whose result is the signal that ended it."""
        for statement in body:
            self.meter.steps += 1
            if self.meter.steps > self.meter.next_check:
                self.meter.check()
            frame.line = statement.lineno
            if not _contains_yield(statement):
                signal = self.executors[statement.__class__](statement, frame)
            else:
                signal = yield from self._suspended(statement, frame)
            if signal is not None:
                return signal  # the result of yield from
        return None

    def _suspended(self, node: ast.stmt, frame: Frame) -> Any:
        if isinstance(node, ast.Expr | ast.Assign | ast.AnnAssign | ast.Return | ast.AugAssign):
            value = node.value
            result: Value = None
            if isinstance(value, ast.Yield):
                result = yield (None if value.value is None else self.evaluate(value.value, frame))
            elif isinstance(value, ast.YieldFrom):
                inner = self.evaluate(value.value, frame)
                yield from self.iterate(inner)
                result = getattr(inner, "returned", None)
            elif value is not None:
                result = self.evaluate(value, frame)
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    self.assign(target, result, frame)
            elif isinstance(node, ast.AnnAssign):
                self.assign(node.target, result, frame)
            elif isinstance(node, ast.Return):
                return Return(result)
            return None
        if isinstance(node, ast.If):
            try:
                chosen = self.truth(self.evaluate(node.test, frame))
            except UnknownTruth as error:
                chosen = self.decide(error.unknown, node, frame, node.body, node.orelse)
            return (yield from self.suspend(node.body if chosen else node.orelse, frame))
        if isinstance(node, ast.For):
            for item in self.iterate(self.evaluate(node.iter, frame)):
                self.assign(node.target, item, frame)
                signal = yield from self.suspend(node.body, frame)
                if signal is BREAK:
                    return None
                if isinstance(signal, Return):
                    return signal
            return (yield from self.suspend(node.orelse, frame))
        if isinstance(node, ast.While):
            while self.truth(self.evaluate(node.test, frame)):
                signal = yield from self.suspend(node.body, frame)
                if signal is BREAK:
                    return None
                if isinstance(signal, Return):
                    return signal
            return (yield from self.suspend(node.orelse, frame))
        if isinstance(node, ast.With):
            managers = [self.enter(item, frame) for item in node.items]
            signal = yield from self.suspend(node.body, frame)
            for manager in reversed(managers):
                self.leave(manager, None)
            return signal
        if isinstance(node, ast.Try):
            return (yield from self._suspended_try(node, frame))
        return self.executors[node.__class__](node, frame)

    def _suspended_try(self, node: ast.Try, frame: Frame) -> Any:
        signal: Value = None
        try:
            signal = yield from self.suspend(node.body, frame)
        except Raised as error:
            handler = self.handler_for(node, error, frame)
            if handler is None:
                self.finish(node, frame)
                raise
            signal = yield from self.suspend(handler.body, frame)
        else:
            if signal is None:
                signal = yield from self.suspend(node.orelse, frame)
        final = yield from self.suspend(node.finalbody, frame)
        return signal if final is None else final


def _contains_yield(node: ast.stmt) -> bool:
    known = getattr(node, "_contains_yield", None)
    if known is None:
        known = False
        pending: list[ast.AST] = [node]
        while pending:
            each = pending.pop()
            if isinstance(each, ast.Yield | ast.YieldFrom):
                known = True
                break
            if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
                continue
            pending.extend(ast.iter_child_nodes(each))
        node._contains_yield = known  # type: ignore[attr-defined]  # our own mark on the node
    return bool(known)
