"""The stack as programs see it that save the arguments a constructor was called with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neurarch_schemas.interpreter.builtin_functions import frame_locals
from neurarch_schemas.interpreter.scopes import Frame
from neurarch_schemas.interpreter.values import MISSING, Class, Instance, Unknown, Value

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine


class FrameView:
    """A frame."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame

    def interpreted_attr(self, machine: Machine, name: str) -> Value:
        machine.doubts += 1
        frame = self.frame
        match name:
            case "f_back":
                return None if frame.caller is None else FrameView(frame.caller)
            case "f_locals":
                return frame_locals(frame)
            case "f_globals":
                return frame.module.namespace
            case "f_code":
                code = Instance(Class(machine, "code", module="types"))
                code.attrs["co_name"] = "<module>" if frame.function is None else frame.function.name
                code.attrs["co_filename"] = frame.module.file or ""
                return code
            case "f_lineno":
                return frame.line
        return MISSING


def stack(machine: Machine) -> list[Value]:
    """``inspect.stack()``: what tells the frame, its file, its line and its function."""
    machine.doubts += 1
    record = Class(machine, "FrameInfo", module="inspect")
    found: list[Value] = []
    frame: Frame | None = machine.frame
    while frame is not None:
        made = Instance(record)
        name = "<module>" if frame.function is None else frame.function.name
        made.attrs.update(frame=FrameView(frame), filename=frame.module.file or "", lineno=frame.line, function=name)
        found.append(made)
        frame = frame.caller
    return found


def argument_values(machine: Machine, frame: Value) -> Value:
    if not isinstance(frame, FrameView) or frame.frame.function is None:
        return ([], None, None, {}) if isinstance(frame, FrameView) else Unknown("a frame", data=True)
    arguments = frame.frame.function.node.args
    names = [each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    star = None if arguments.vararg is None else arguments.vararg.arg
    stars = None if arguments.kwarg is None else arguments.kwarg.arg
    return (names, star, stars, frame_locals(frame.frame))
