from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Fix
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.python_file import FUNCTIONS, PythonFile, Site, assigning, assignments, loads, python_file
from neurarch_rules.facts.python_reach import of_units
from neurarch_schemas.documents.python_nodes import nodes, nodes_of

if TYPE_CHECKING:
    from neurarch_schemas.documents.python_units import Placed

RULE = RuleInfo(
    name="module-instance-repeated",
    severity="warning",
    category="correctness",
    summary="[layer] * n holds one layer n times: the copies share their weights",
    reads=("python",),
    needs=("*", "range", "fromkeys", "=nn.", "= nn.", "nn.Module = "),
)


CONTAINERS = ("torch.nn.ModuleList", "torch.nn.Sequential")
DELIBERATE = ("share", "same", "tied", "reuse")
"""Words in a variable's name, or in a condition around, that say the sharing is meant."""


def check(context: Context) -> Iterator[Finding]:
    return of_units(python_file(context), _of_unit)


def _of_unit(file: PythonFile, placed: Placed) -> Iterator[Finding]:
    parents = placed.unit.parents
    for finding, node in _in_unit(file, placed):
        if not _is_asked_for(parents, node):
            yield finding


def _is_asked_for(parents: dict[ast.AST, ast.AST], node: ast.AST) -> bool:
    """``if self.share_layers:`` ... ``else:``"""
    while parents[node] is not node:
        above = parents[node]
        if isinstance(above, ast.If | ast.IfExp) and _is_meant(above.test):
            return True
        node = above
    return False


def _in_unit(file: PythonFile, placed: Placed) -> Iterator[tuple[Finding, ast.AST]]:
    for call in placed.unit.calls.get("fromkeys", ()):
        if len(call.args) == 2 and getattr(getattr(call.func, "value", None), "id", "") == "dict":
            yield from ((finding, call) for finding in _from_keys(file, Site(placed, call), call.args[1]))
    parents = placed.unit.parents
    for statement in placed.unit.body:
        comprehensions: list[ast.ListComp | ast.GeneratorExp] = [
            *nodes_of(statement, ast.ListComp),
            *nodes_of(statement, ast.GeneratorExp),
        ]
        for made in comprehensions:
            if _same_in_all(file, parents, made):
                yield _of_comprehension(Site(placed, made), made), made
        for arguments in nodes_of(statement, ast.arguments):
            yield from ((finding, arguments) for finding in _as_default(file, placed, arguments))
        for loop in nodes_of(statement, ast.For):
            yield from ((finding, loop) for finding in _in_loop(file, Site(placed, loop), loop))
        for product in nodes_of(statement, ast.BinOp):
            if isinstance(product.op, ast.Mult):
                yield from ((finding, product) for finding in _of_product(file, Site(placed, product), product))


def _as_default(file: PythonFile, placed: Placed, arguments: ast.arguments) -> Iterator[Finding]:
    """``def __init__(self, norm=nn.LayerNorm(8))``"""
    function = placed.unit.parents[arguments]
    if not isinstance(function, ast.FunctionDef) or function.name != "__init__":
        return
    for default in (*arguments.defaults, *arguments.kw_defaults):
        if default is not None and file.makes_parameters(default):
            shown = ast.unparse(default)
            yield Finding(
                f"{shown} is made once, when the class is defined: all instances share this layer and its weights; "
                "make None the default and the layer in __init__",
                Site(placed, default).place,
            )


def _of_product(file: PythonFile, site: Site, node: ast.BinOp) -> Iterator[Finding]:
    """``[layer] * n``"""
    listed, count = (node.left, node.right) if isinstance(node.left, ast.List) else (node.right, node.left)
    if not isinstance(listed, ast.List) or not listed.elts:
        return
    if isinstance(count, ast.Constant) and count.value in (0, 1):
        return
    fresh = [_is_fresh(file, site, node, item) for item in listed.elts]
    # layers without parameters among them may well be shared
    if not any(fresh) or not all(new or file.makes_module(item) for new, item in zip(fresh, listed.elts, strict=True)):
        return
    item, times = ", ".join(map(ast.unparse, listed.elts)), ast.unparse(count)
    one = len(listed.elts) == 1
    fixes: tuple[Fix, ...] = ()
    if one and isinstance(listed.elts[0], ast.Call):
        fixes = (site.replace(f"[{item} for _ in range({times})]", "Make one layer each", "unsafe"),)
    advice = f"write [{item} for _ in range({times})]" if one else "make them in a comprehension"
    inside = "" if isinstance(listed.elts[0], ast.Call) or not one else " with the constructor inside"
    what = "one and the same module" if one else "the same modules"
    yield Finding(
        f"[{item}] * {times} holds {what} {times} times: all positions share one set of weights, and the model has the "
        f"parameters of one; {advice}{inside}",
        site.place,
        fixes=fixes,
    )


def _from_keys(file: PythonFile, site: Site, value: ast.expr) -> Iterator[Finding]:
    """``dict.fromkeys(names, nn.Linear(8, 8))``"""
    if file.makes_parameters(value):
        yield Finding(
            f"all keys of {ast.unparse(site.node)} hold one and the same module: they share one set of weights; make "
            "one for each key in a comprehension",
            site.place,
        )


def _in_loop(file: PythonFile, site: Site, loop: ast.For) -> Iterator[Finding]:
    """``for _ in range(n): self.layers.append(layer)`` of a layer made once, before the loop."""
    if not isinstance(loop.iter, ast.Call) or getattr(loop.iter.func, "id", "") != "range":
        return
    parents = site.placed.unit.parents
    for statement in loop.body:
        call = statement.value if isinstance(statement, ast.Expr) else None
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr != "append":
            continue
        if len(call.args) != 1 or not isinstance(call.args[0], ast.Name):
            continue
        name = call.args[0].id
        stored = any(isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load)
                     for node in nodes(loop))  # fmt: skip
        if stored or _is_meant(call.func.value) or not _is_module_list(file, site, call.func.value):
            continue
        if _made_once(file, parents, loop, name) and _only_in_range(parents, loop):
            yield Finding(
                f"every pass of the loop appends one and the same {name}: all positions share one set of weights, and "
                f"the model has the parameters of one; make {name} inside the loop",
                site.at(call).place,
            )


def _only_in_range(parents: dict[ast.AST, ast.AST], loop: ast.For) -> bool:
    """The loop itself is not repeated, and nothing ends it early."""
    ends = any(isinstance(node, ast.Break | ast.Continue | ast.Return) for node in nodes(loop))
    return not ends and not isinstance(parents[loop], ast.For | ast.While)


def _is_module_list(file: PythonFile, site: Site, owner: ast.expr) -> bool:
    """The list is a ModuleList made in the same function."""
    return any(
        value is not None and file.layer(value) == "ModuleList"
        for item in assigning(_function(site.placed.unit.parents, site.node))
        for target, value in assignments(item)
        if ast.dump(target).replace("Store", "Load") == ast.dump(owner)
    )


def _is_meant(target: ast.AST) -> bool:
    """A word in the name says that sharing is meant."""
    return any(word in ast.unparse(target).lower() for word in DELIBERATE)


def _same_in_all(file: PythonFile, parents: dict[ast.AST, ast.AST], node: ast.ListComp | ast.GeneratorExp) -> bool:
    """``[layer for _ in range(n)]`` of a layer made once, before, or handed in."""
    item, generator = node.elt, node.generators[0]
    if not isinstance(item, ast.Name) or len(node.generators) != 1 or not isinstance(generator.iter, ast.Call):
        return False
    if getattr(generator.iter.func, "id", "") != "range" or getattr(generator.target, "id", item.id) == item.id:
        return False
    return _container(file, parents, node) and _is_one(file, parents, node, item.id)


def _of_comprehension(site: Site, node: ast.ListComp | ast.GeneratorExp) -> Finding:
    item = ast.unparse(node.elt)
    return Finding(
        f"every entry of {ast.unparse(node)} is one and the same module: all positions share one set of weights, and "
        f"the model has the parameters of one; make {item} inside the brackets",
        site.place,
    )


def _is_fresh(file: PythonFile, site: Site, node: ast.AST, item: ast.expr) -> bool:
    """The repeated item is one module: made on the spot, or put into a container of modules."""
    parents = site.placed.unit.parents
    if isinstance(item, ast.Call):
        return file.makes_parameters(item)
    return isinstance(item, ast.Name) and _container(file, parents, node) and _is_one(file, parents, node, item.id)


def _container(file: PythonFile, parents: dict[ast.AST, ast.AST], node: ast.AST) -> bool:
    """It is what a ModuleList or Sequential is made of, perhaps under a name of its own."""
    above = parents[node]
    if isinstance(above, ast.Assign) and len(above.targets) == 1 and isinstance(above.targets[0], ast.Name):
        reads = list(loads(_function(parents, node), above.targets[0].id))
        if len(reads) != 1 or len(_values(_function(parents, node), above.targets[0].id)) != 1:
            return False
        above = parents[reads[0]]
    above = parents[above] if isinstance(above, ast.Starred) else above
    if not isinstance(above, ast.Call) or file.qualified(above.func) not in CONTAINERS:
        return False
    kept = parents[above]
    return not (isinstance(kept, ast.Assign) and any(_is_meant(target) for target in kept.targets))


def _is_one(file: PythonFile, parents: dict[ast.AST, ast.AST], node: ast.AST, name: str) -> bool:
    """What the name holds is one module: made once in the function, or an argument that is never replaced."""
    if any(word in name.lower() for word in DELIBERATE):
        return False
    function = _function(parents, node)
    values = _values(function, name)
    if not isinstance(function, FUNCTIONS) or values:
        return _made_once(file, parents, node, name)
    return any(item.arg == name for item in (*function.args.args, *function.args.kwonlyargs))


def _made_once(file: PythonFile, parents: dict[ast.AST, ast.AST], node: ast.AST, name: str) -> bool:
    """The only assignment of the name in the function makes a layer."""
    if any(word in name.lower() for word in DELIBERATE):
        return False
    values = _values(_function(parents, node), name)
    return len(values) == 1 and values[0] is not None and file.makes_parameters(values[0])


def _values(function: ast.AST, name: str) -> list[ast.expr | None]:
    return [
        value
        for item in assigning(function)
        for target, value in assignments(item)
        if isinstance(target, ast.Name) and target.id == name
    ]


def _function(parents: dict[ast.AST, ast.AST], node: ast.AST) -> ast.AST:
    """The function around a node, else the outermost statement."""
    while not isinstance(node, FUNCTIONS) and parents[node] is not node:
        node = parents[node]
    return node
