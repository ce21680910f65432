"""Arguments of constructions, made once and copied for each: the configuration is the same for all classes of a file.

A copy stands for the value of evaluating the expression again where that changed nothing of the program, left no
doubt, and the value is made of plain objects and containers that are its own.
"""

from __future__ import annotations

import ast
from contextlib import suppress
from typing import TYPE_CHECKING

from neurarch_schemas.interpreter.copies import Copier, Foreign
from neurarch_schemas.interpreter.values import Value

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.kept import Kept
    from neurarch_schemas.interpreter.scopes import Frame


class Prototypes:
    """Values by the text of their expression, for a program that is put back after each construction."""

    def __init__(self, kept: Kept) -> None:
        self._kept = kept
        self._known: dict[str, tuple[Value, int] | None] = {}
        """A copy that nobody changes, and the steps it took; None where there cannot be one."""

    def fill_in(self, call: ast.expr, frame: Frame) -> ast.expr:
        """The call with copies, in the frame, for its arguments, where they may stand for them.

        The program must be as it was when its file had run.
        """
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.keywords:
            return call
        arguments = list(call.args)
        for index, argument in enumerate(call.args):
            if not isinstance(argument, ast.Call):
                break
            key = ast.unparse(argument)
            name = f"<argument {index}>"
            frame.locals[name] = self._value(key, argument, frame)
            arguments[index] = ast.copy_location(ast.Name(name, ast.Load()), argument)
            if self._known[key] is None:
                break  # what comes later may depend on what this has changed
        return ast.copy_location(ast.Call(call.func, arguments, []), call)

    def _value(self, key: str, expression: ast.expr, frame: Frame) -> Value:
        machine = self._kept.machine
        known = self._known.get(key)
        if known is not None:
            machine.meter.work(known[1])
            return Copier(self._kept.own, {}).copy(known[0])
        steps, modules, doubts = machine.meter.steps, machine.meter.modules, machine.doubts
        value = machine.evaluate(expression, frame)
        if key not in self._known:
            self._known[key] = None
            pure = machine.doubts == doubts and machine.meter.modules == modules
            if pure and self._kept.is_as_it_was():
                with suppress(Foreign):
                    self._known[key] = Copier(self._kept.own, {}).copy(value), machine.meter.steps - steps
        return value
