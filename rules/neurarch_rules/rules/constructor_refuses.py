from __future__ import annotations

import ast
from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Related
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.python_values import Events, Refused, events, is_given
from neurarch_schemas.documents.python_nodes import nodes

RULE = RuleInfo(
    name="constructor-refuses",
    severity="error",
    category="correctness",
    summary="A construction fails its own check: head counts that do not divide, sizes that must agree",
    reads=("python",),
    needs=("assert", "raise"),
)


def check(context: Context) -> Iterator[Finding]:
    return _faults(events(context, RULE.needs, _faults))


def _faults(done: Events) -> Iterator[Finding]:
    seen: set[tuple[int, int]] = set()
    found = done.refused
    told = {_fault(refused) for refused in found if refused.explicit}
    for refused in found:
        if not refused.explicit and _fault(refused) in told:
            continue
        if not refused.values or not (refused.explicit or _divides(refused.test)):
            continue
        key = (id(refused.site.node), id(refused.construction.node) if refused.explicit else 0)
        if key in seen:
            continue
        seen.add(key)
        yield _finding(refused)


def _fault(refused: Refused) -> tuple[int, tuple[object, ...]]:
    """The check and the values that fail it."""
    return id(refused.site.node), tuple(value.of for _, value in refused.values)


def _divides(test: ast.expr) -> bool:
    return any(isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) for node in nodes(test))


def _finding(refused: Refused) -> Finding:
    numbers = dict.fromkeys(f"{name} = {value.of!r}" for name, value in refused.values)
    shown = " and ".join(numbers)
    test = ast.unparse(refused.test)
    modulus = _modulus(refused)
    what = modulus or (f"{test} with {shown}" if len(test) <= 80 else f"the check fails with {shown}")
    failing = "the construction cannot be built" if refused.explicit else "the class's own defaults cannot be built"
    if not _in_class(refused):
        failing = "this call fails a check of its own"
    related = [refused.site.related("the check that fails")]
    written = [value.origin for _, value in refused.values if value.origin is not None]
    related += (Related(site.place, f"{ast.unparse(site.node)} comes from here") for site in written)
    place = refused.construction
    if refused.explicit and written and all(_inside(place.node, site.node) for site in written[-1:]):
        place = written[-1]
    elif not refused.explicit:
        given = [site for site in written if is_given(site)]
        place = given[-1] if given and len(given) == len(written) else refused.site
    return Finding(f"{failing}: {what}", place.place, tuple(related))


def _in_class(refused: Refused) -> bool:
    parents, node = refused.site.placed.unit.parents, refused.site.node
    while parents[node] is not node:
        node = parents[node]
    return isinstance(node, ast.ClassDef)


def _modulus(refused: Refused) -> str | None:
    """ "1600 / 48 = 33.3 is not whole (d_out, num_heads)"."""
    for node in nodes(refused.test):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
            known = {name: value.of for name, value in refused.values}
            left, right = ast.unparse(node.left), ast.unparse(node.right)
            top = known.get(left, node.left.value if isinstance(node.left, ast.Constant) else None)
            bottom = known.get(right, node.right.value if isinstance(node.right, ast.Constant) else None)
            if type(top) is int and type(bottom) is int and bottom:
                return f"{left} = {top} is not a multiple of {right} = {bottom} ({top} / {bottom} = {top / bottom:.4g})"
    return None


def _inside(node: ast.AST, part: ast.AST) -> bool:
    return any(each is part for each in nodes(node))
