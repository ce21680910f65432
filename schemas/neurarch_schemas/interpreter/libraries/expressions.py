"""re: the host's engine on patterns and texts of bounded size, never on patterns that nest repetitions."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from neurarch_schemas.interpreter.libraries.library import module, new_class
from neurarch_schemas.interpreter.values import Builtin, Class, Instance, PythonModule, Unknown, Value

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine

_LONGEST_PATTERN = 2000
_LONGEST_TEXT = 60_000
_OPEN_ENDED = 50
"""A repetition of more than this many counts as endless."""


def build(machine: Machine, name: str) -> PythonModule:
    pattern_class = new_class(machine, "Pattern", "re", {key: _pattern_method(key) for key in _METHODS})
    match_class = new_class(machine, "Match", "re", {key: _match_method(key) for key in _MATCH})
    match_class.namespace["__getitem__"] = Builtin("__getitem__", _match_method("group"), binds=True)
    machine.state["re"] = (pattern_class, match_class)
    entries: dict[str, Value] = {key: _function(key) for key in _METHODS}
    entries["compile"] = _compile
    entries["escape"] = lambda machine, text: re.escape(text)
    entries.update(
        {
            flag: int(getattr(re, flag))
            for flag in (
                "I",
                "IGNORECASE",
                "M",
                "MULTILINE",
                "S",
                "DOTALL",
                "X",
                "VERBOSE",
                "A",
                "ASCII",
                "U",
                "UNICODE",
            )
        }
    )
    entries["Pattern"] = pattern_class
    entries["Match"] = match_class
    entries["error"] = machine.builtins["ValueError"]
    return module(name, entries)


_METHODS = ("match", "search", "fullmatch", "findall", "finditer", "sub", "subn", "split")
_MATCH = ("group", "groups", "groupdict", "start", "end", "span")


def _compile(machine: Machine, pattern: Value, flags: Value = 0) -> Value:
    if isinstance(pattern, Instance):
        return pattern
    if type(pattern) is Unknown:
        return pattern
    if not isinstance(pattern, str) or len(pattern) > _LONGEST_PATTERN:
        return Unknown("a regular expression that is too long", data=True)
    try:
        if _may_explode(pattern, flags):
            return Unknown("a regular expression that may take too long", data=True)
        compiled = re.compile(pattern, flags)
    except (re.error, RecursionError) as error:
        raise machine.raised("ValueError", str(error)) from None
    made = Instance(machine.state["re"][0])
    made.attrs.update({"<compiled>": compiled, "pattern": pattern, "flags": flags, "groups": compiled.groups})
    return made


@lru_cache(maxsize=256)
def _may_explode(pattern: str, flags: int) -> bool:
    """A repetition in a repetition, "(a+)+", may take exponential time; a literal between the two makes it safe."""
    from re import _parser  # type: ignore[attr-defined]  # the parser of the engine, not in its stubs

    return _explodes(_parser.parse(pattern, flags), False)


def _explodes(items: Any, repeated: bool) -> bool:
    for kind, value in items:
        name = str(kind)
        if name in ("MAX_REPEAT", "MIN_REPEAT"):
            _, most, body = value
            endless = most > _OPEN_ENDED
            if endless and repeated:
                return True
            literal = any(str(each) == "LITERAL" for each, _ in _flat(body))
            if _explodes(body, (endless and not literal) or repeated):
                return True
        elif name == "SUBPATTERN":
            if _explodes(value[-1], repeated):
                return True
        elif name == "BRANCH":
            if any(_explodes(branch, repeated) for branch in value[1]):
                return True
        elif name in ("ASSERT", "ASSERT_NOT") and _explodes(value[1], repeated):
            return True
    return False


def _flat(items: Any) -> list[tuple[Any, Any]]:
    found: list[tuple[Any, Any]] = []
    for kind, value in items:
        if str(kind) == "SUBPATTERN":
            found.extend(_flat(value[-1]))
        else:
            found.append((kind, value))
    return found


def _function(name: str) -> Any:
    def call(machine: Machine, pattern: Value, *args: Value, flags: Value = 0, **kwargs: Value) -> Value:
        compiled = _compile(machine, pattern, flags)
        if type(compiled) is Unknown:
            return compiled
        return _pattern_method(name)(machine, compiled, *args, **kwargs)

    return call


def _pattern_method(name: str) -> Any:
    def call(machine: Machine, self: Instance, *args: Value, **kwargs: Value) -> Value:
        for value in args:
            if type(value) is Unknown:
                return value
            if isinstance(value, str) and len(value) > _LONGEST_TEXT:
                return Unknown("a regular expression on a long text", data=True)
        arguments = list(args)
        if name in ("sub", "subn") and not isinstance(arguments[0], str):
            replacement = arguments[0]
            arguments[0] = lambda match: machine.call(replacement, [_match(machine, match)], {})
        compiled = self.attrs["<compiled>"]
        result = getattr(compiled, name)(*arguments, **kwargs)
        if name == "finditer":
            return iter([_match(machine, each) for each in result])
        return _match(machine, result) if name in ("match", "search", "fullmatch") else result

    return call


def _match(machine: Machine, match: Any) -> Value:
    if match is None:
        return None
    cls: Class = machine.state["re"][1]
    made = Instance(cls)
    made.attrs.update({"<match>": match, "string": match.string, "lastgroup": match.lastgroup})
    return made


def _match_method(name: str) -> Any:
    return lambda machine, self, *args, **kwargs: getattr(self.attrs["<match>"], name)(*args, **kwargs)
