"""itertools, lazily, so that endless iterators may be sliced."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING

from neurarch_schemas.interpreter.libraries.library import module
from neurarch_schemas.interpreter.values import MISSING, Builtin, PythonModule, Value

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine


def build(machine: Machine, name: str) -> PythonModule:
    chain = Builtin("chain", lambda machine, *values: itertools.chain.from_iterable(map(machine.iterate, values)))
    chain.attrs["from_iterable"] = Builtin(
        "from_iterable",
        lambda machine, values: itertools.chain.from_iterable(map(machine.iterate, machine.iterate(values))),
    )
    return module(
        name,
        {
            "chain": chain,
            "count": lambda machine, start=0, step=1: itertools.count(start, step),
            "cycle": lambda machine, values: itertools.cycle(machine.iterate(values)),
            "repeat": lambda machine, value, *times: itertools.repeat(value, *times),
            "islice": lambda machine, values, *args: itertools.islice(machine.iterate(values), *args),
            "product": _product,
            "permutations": lambda machine, values, *n: itertools.permutations(list(machine.iterate(values)), *n),
            "combinations": lambda machine, values, n: itertools.combinations(list(machine.iterate(values)), n),
            "combinations_with_replacement": lambda machine, values, n: itertools.combinations_with_replacement(
                list(machine.iterate(values)), n
            ),
            "accumulate": _accumulate,
            "zip_longest": lambda machine, *values, fillvalue=None: itertools.zip_longest(
                *map(machine.iterate, values), fillvalue=fillvalue
            ),
            "starmap": lambda machine, function, values: (
                machine.call(function, list(machine.iterate(each)), {}) for each in machine.iterate(values)
            ),
            "takewhile": lambda machine, function, values: itertools.takewhile(
                lambda item: machine.truth(machine.call(function, [item], {})), machine.iterate(values)
            ),
            "dropwhile": lambda machine, function, values: itertools.dropwhile(
                lambda item: machine.truth(machine.call(function, [item], {})), machine.iterate(values)
            ),
            "filterfalse": lambda machine, function, values: itertools.filterfalse(
                lambda item: machine.truth(item if function is None else machine.call(function, [item], {})),
                machine.iterate(values),
            ),
            "groupby": _groupby,
            "tee": lambda machine, values, n=2: itertools.tee(machine.iterate(values), n),
            "pairwise": lambda machine, values: itertools.pairwise(machine.iterate(values)),
            "compress": lambda machine, values, selectors: itertools.compress(
                machine.iterate(values), machine.iterate(selectors)
            ),
        },
    )


def _product(machine: Machine, *values: Value, repeat: Value = 1) -> Value:
    pools = [list(machine.iterate(each)) for each in values] * repeat
    size = 1
    for pool in pools:
        size *= len(pool)
    machine.meter.size(size)
    return itertools.product(*pools)


def _accumulate(
    machine: Machine, values: Value, function: Value = None, *, initial: Value = MISSING
) -> Iterator[Value]:
    total = initial
    if initial is not MISSING and initial is not None:
        yield total
    else:
        total = MISSING
    for value in machine.iterate(values):
        if total is MISSING:
            total = value
        elif function is None:
            total = machine.binary(ast.Add, total, value)
        else:
            total = machine.call(function, [total, value], {})
        yield total


def _groupby(machine: Machine, values: Value, key: Value = None) -> Iterator[Value]:
    groups: list[tuple[Value, list[Value]]] = []
    for value in machine.iterate(values):
        rank = value if key is None else machine.call(key, [value], {})
        if groups and groups[-1][0] == rank:
            groups[-1][1].append(value)
        else:
            groups.append((rank, [value]))
    return ((rank, iter(items)) for rank, items in groups)
