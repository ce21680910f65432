"""Will it forward: the pairs of sizes in a tree that must agree and do not."""

from __future__ import annotations

from neurarch_schemas.modules.tree import Module, ShapeProblem, walk
from neurarch_schemas.record import Record


class Disagreement(Record):
    """``path`` is the name pattern of the module, ``times`` how many such modules there are."""

    path: str
    module: str
    times: int
    problem: ShapeProblem


def disagreements(tree: Module) -> tuple[Disagreement, ...]:
    """Empty when every block's own sizes agree."""
    return tuple(
        Disagreement(visit.path, visit.module.type, visit.times, problem)
        for visit in walk(tree)
        for problem in visit.module.problems
    )
