from __future__ import annotations

import ast
from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Fix
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.python_file import PythonFile, Site, assignments, nodes, python_file

RULE = RuleInfo(
    name="module-instance-repeated",
    severity="warning",
    category="correctness",
    summary="[layer] * n holds one layer n times: the copies share their weights",
    reads=("python",),
    needs=("*", "range"),
)


DELIBERATE = ("shared", "same", "tied")
"""Words in a variable's name that say the sharing is meant."""


def check(context: Context) -> Iterator[Finding]:
    file = python_file(context)
    for placed in file.units:
        for node in placed.unit.parents:
            if isinstance(node, ast.ListComp) and _same_in_all(file, placed.unit.parents, node):
                yield _of_comprehension(Site(placed, node), node)
            if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mult):
                continue
            listed, count = (node.left, node.right) if isinstance(node.left, ast.List) else (node.right, node.left)
            if not isinstance(listed, ast.List) or len(listed.elts) != 1:
                continue
            if isinstance(count, ast.Constant) and count.value in (0, 1):
                continue
            if not _is_fresh(file, placed.unit.parents, node, listed.elts[0]):
                continue
            site = Site(placed, node)
            item, times = ast.unparse(listed.elts[0]), ast.unparse(count)
            fixes: tuple[Fix, ...] = ()
            if isinstance(listed.elts[0], ast.Call):
                fixes = (site.replace(f"[{item} for _ in range({times})]", "Make one layer each", "unsafe"),)
            yield Finding(
                f"[{item}] * {times} holds one and the same module {times} times: all positions share one set of "
                f"weights, and the model has the parameters of one; write [{item} for _ in range({times})]"
                + ("" if isinstance(listed.elts[0], ast.Call) else " with the constructor inside"),
                site.place,
                fixes=fixes,
            )


def _same_in_all(file: PythonFile, parents: dict[ast.AST, ast.AST], node: ast.ListComp) -> bool:
    """``[layer for _ in range(n)]`` of a layer made once, before."""
    item, generator = node.elt, node.generators[0]
    if not isinstance(item, ast.Name) or len(node.generators) != 1 or not isinstance(generator.iter, ast.Call):
        return False
    if getattr(generator.iter.func, "id", "") != "range" or getattr(generator.target, "id", item.id) == item.id:
        return False
    return _container(file, parents, node) and _made_once(file, parents, node, item.id)


def _of_comprehension(site: Site, node: ast.ListComp) -> Finding:
    item = ast.unparse(node.elt)
    return Finding(
        f"every entry of {ast.unparse(node)} is one and the same module: all positions share one set of weights, and "
        f"the model has the parameters of one; make {item} inside the brackets",
        site.place,
    )


def _is_fresh(file: PythonFile, parents: dict[ast.AST, ast.AST], node: ast.AST, item: ast.expr) -> bool:
    """The repeated item is made on the spot and ends in a container of modules."""
    if isinstance(item, ast.Call):
        return file.makes_parameters(item)
    return isinstance(item, ast.Name) and _container(file, parents, node) and _made_once(file, parents, node, item.id)


def _container(file: PythonFile, parents: dict[ast.AST, ast.AST], node: ast.AST) -> bool:
    above = parents[node]
    above = parents[above] if isinstance(above, ast.Starred) else above
    return isinstance(above, ast.Call) and file.qualified(above.func) in ("torch.nn.ModuleList", "torch.nn.Sequential")


def _made_once(file: PythonFile, parents: dict[ast.AST, ast.AST], node: ast.AST, name: str) -> bool:
    """The only assignment of the name in the function makes a layer."""
    if any(word in name.lower() for word in DELIBERATE):
        return False
    while not isinstance(node, ast.FunctionDef) and parents[node] is not node:
        node = parents[node]
    values = [
        value
        for item in nodes(node)
        for target, value in assignments(item)
        if isinstance(target, ast.Name) and target.id == name
    ]
    return len(values) == 1 and values[0] is not None and file.makes_parameters(values[0])
