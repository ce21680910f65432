"""math, cmath, random and operator."""

from __future__ import annotations

import ast
import cmath
import math
import operator
from typing import TYPE_CHECKING, Any

from neurarch_schemas.interpreter.libraries.library import module, nothing, plain
from neurarch_schemas.interpreter.values import Builtin, PythonModule, Unknown, Value

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine

_GUARDED = ("factorial", "comb", "perm", "prod", "pow", "ldexp", "lcm")


def build(machine: Machine, name: str) -> PythonModule:
    if name == "random":
        return _random()
    if name == "operator":
        return _operator()
    host = math if name == "math" else cmath
    entries: dict[str, Value] = {}
    for key in dir(host):
        value = getattr(host, key)
        if key.startswith("_"):
            continue
        entries[key] = plain(value) if callable(value) and key not in _GUARDED else value
    if name == "math":
        entries["factorial"] = entries["gamma"] = plain(_factorial)
        entries["comb"] = plain(lambda n, k: math.comb(n, k) if n <= 2000 else _too_large())
        entries["perm"] = plain(lambda n, k=None: math.perm(n, k) if n <= 500 else _too_large())
        entries["prod"] = _prod
        entries["pow"] = plain(math.pow)
        entries["ldexp"] = plain(math.ldexp)
        entries["lcm"] = plain(math.lcm)
    return module(name, entries)


def _too_large() -> int:
    raise OverflowError("an integer grows too large")


def _factorial(value: int) -> int:
    return math.factorial(value) if value <= 500 else _too_large()


def _prod(machine: Machine, values: Value, *, start: Value = 1) -> Value:
    total = start
    for value in machine.iterate(values):
        total = machine.binary(ast.Mult, total, value)
    return total


def shuffle(machine: Machine, values: Value, *args: Value) -> None:
    """``random.shuffle``."""
    if not isinstance(values, list) or len(values) < 2:
        return
    if not all(type(each) in (int, float, str) for each in values):
        machine.taint("a list in random order")
    elif len(set(values)) > 1:
        machine.touch(values)
        values[:] = [Unknown("an item of a shuffled list", data=True)] * len(values)


def _random() -> PythonModule:
    def unknown(machine: Machine, *args: Value, **kwargs: Value) -> Value:
        return Unknown("a random number", data=True)

    def choice(machine: Machine, *args: Value, **kwargs: Value) -> Value:
        return Unknown("a random choice")

    entries: dict[str, Value] = dict.fromkeys(
        ("random", "randint", "uniform", "gauss", "normalvariate", "randrange", "getrandbits"), unknown
    )
    entries.update(choice=choice, choices=choice, sample=choice, seed=nothing, shuffle=shuffle, getstate=nothing)
    return module("random", entries)


def _operator() -> PythonModule:
    kinds = {
        "add": ast.Add, "sub": ast.Sub, "mul": ast.Mult, "truediv": ast.Div, "floordiv": ast.FloorDiv,
        "mod": ast.Mod, "pow": ast.Pow, "and_": ast.BitAnd, "or_": ast.BitOr, "xor": ast.BitXor,
        "lshift": ast.LShift, "rshift": ast.RShift, "matmul": ast.MatMult, "concat": ast.Add,
    }  # fmt: skip
    compares = {
        "eq": ast.Eq,
        "ne": ast.NotEq,
        "lt": ast.Lt,
        "le": ast.LtE,
        "gt": ast.Gt,
        "ge": ast.GtE,
        "is_": ast.Is,
        "is_not": ast.IsNot,
    }
    entries: dict[str, Value] = {name: _binary(kind) for name, kind in kinds.items()}
    entries.update({name: _compare(kind) for name, kind in compares.items()})
    entries["itemgetter"] = _itemgetter
    entries["attrgetter"] = _attrgetter
    entries["methodcaller"] = _methodcaller
    entries["getitem"] = lambda machine, value, key: machine.subscript(value, key)
    entries["contains"] = lambda machine, value, item: machine.compare(ast.In, item, value)
    entries["setitem"] = lambda machine, value, key, item: machine.set_item(value, key, item)
    entries["delitem"] = lambda machine, value, key: machine.del_item(value, key)
    entries["countOf"] = lambda machine, values, item: sum(
        machine.truth(machine.compare(ast.Eq, each, item)) for each in machine.iterate(values)
    )
    entries["not_"] = lambda machine, value: not machine.truth(value)
    entries["truth"] = lambda machine, value: machine.truth(value)
    for name in ("neg", "pos", "abs", "invert", "inv", "index"):
        entries[name] = plain(getattr(operator, name))
    for name, kind in kinds.items():
        entries["i" + name.removesuffix("_")] = _in_place(kind)
    for name in list(entries):
        entries[f"__{name.removesuffix('_')}__"] = entries[name]
    return module("operator", entries)


def _binary(kind: type) -> Any:
    return lambda machine, left, right: machine.binary(kind, left, right)


def _in_place(kind: type) -> Any:
    return lambda machine, left, right: machine.in_place(kind, left, right)


def _compare(kind: type) -> Any:
    return lambda machine, left, right: machine.compare(kind, left, right)


def _itemgetter(machine: Machine, *keys: Value) -> Value:
    def get(machine: Machine, value: Value) -> Value:
        items = tuple(machine.subscript(value, key) for key in keys)
        return items[0] if len(keys) == 1 else items

    return Builtin("itemgetter", get)


def _attrgetter(machine: Machine, *paths: str) -> Value:
    def get(machine: Machine, value: Value) -> Value:
        items = []
        for path in paths:
            item = value
            for name in path.split("."):
                item = machine.get_attr(item, name)
            items.append(item)
        return items[0] if len(paths) == 1 else tuple(items)

    return Builtin("attrgetter", get)


def _methodcaller(machine: Machine, name: str, *args: Value, **kwargs: Value) -> Value:
    return Builtin(
        "methodcaller", lambda machine, value: machine.call(machine.get_attr(value, name), list(args), kwargs)
    )
