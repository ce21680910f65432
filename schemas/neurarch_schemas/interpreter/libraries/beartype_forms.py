"""beartype: its decorators leave what they decorate, its questions are answered from the value and the hint."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neurarch_schemas.interpreter.libraries.library import module
from neurarch_schemas.interpreter.values import Builtin, PythonModule, TypingForm, Unknown, Value

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine

_SEQUENCES: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("list", "List"), (list,)),
    **dict.fromkeys(("set", "Set"), (set,)),
    "frozenset": (frozenset,),
    "Sequence": (list, tuple),
}


def build(machine: Machine, name: str) -> PythonModule:
    return module(
        name,
        {
            "beartype": decorator,
            "beartype_this_package": decorator,
            "is_bearable": bears,
            "die_if_unbearable": lambda machine, *args, **options: None,
        },
        TypingForm,
    )


def decorator(machine: Machine, function: Value = None, **options: Value) -> Value:
    if function is None or options:
        return Builtin("decorator", lambda machine, function: function)
    return function


def bears(machine: Machine, value: Value, hint: Value, **options: Value) -> Value:
    """Whether a value keeps to a type hint; unknown for the forms nobody models."""
    if type(value) is Unknown:
        return Unknown(value.reason, data=True)
    if not isinstance(hint, TypingForm):
        return machine.is_instance(value, hint)
    if hint.name == "Any":
        return True
    if hint.name in ("Union", "Optional"):
        sides = [bears(machine, value, each) for each in (*hint.args, *([None] if hint.name == "Optional" else []))]
        return True if any(side is True for side in sides) else _all(sides)
    if hint.name == "Literal":
        return any(type(value) is type(each) and value == each for each in hint.args)
    if hint.name in ("tuple", "Tuple"):
        if not isinstance(value, tuple):
            return False
        kinds = hint.args[:1] * len(value) if len(hint.args) == 2 and hint.args[1] is ... else hint.args
        return len(kinds) == len(value) and _all([bears(machine, *pair) for pair in zip(value, kinds, strict=True)])
    if hint.name in _SEQUENCES and len(hint.args) == 1:
        items = list(value) if isinstance(value, list | tuple | set | frozenset) else []
        right = isinstance(value, _SEQUENCES[hint.name])
        return right and _all([bears(machine, each, hint.args[0]) for each in items])
    return Unknown(f"whether a value is a {hint.name}", data=True)


def _all(answers: list[Value]) -> Value:
    """False if one is, else whatever is not known, else True."""
    if any(answer is False for answer in answers):
        return False
    return next((answer for answer in answers if answer is not True), True)
