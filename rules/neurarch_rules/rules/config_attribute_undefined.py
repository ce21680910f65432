from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, NamedTuple

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.python_configs import config_parameters
from neurarch_rules.facts.python_file import (
    FUNCTIONS,
    ClassFacts,
    FunctionNode,
    PythonFile,
    Site,
    argument,
    python_file,
    self_attribute,
)
from neurarch_rules.facts.spelling import closest
from neurarch_schemas.documents.python_nodes import kept, nodes, nodes_of

if TYPE_CHECKING:
    from neurarch_schemas.documents.python_units import Placed

RULE = RuleInfo(
    name="config-attribute-undefined",
    severity="error",
    category="correctness",
    summary="A model reads an attribute its config class never defines",
    reads=("python",),
    needs=("onfig", "Args", "args", "cfg"),
)


_OF_TUPLES = ("_asdict", "_replace", "_fields", "count", "index")


class Declared(NamedTuple):
    """Names given a value or an annotation in a class body; ``annotated`` where there are any."""

    names: frozenset[str]
    annotated: bool


class Read(NamedTuple):
    site: Site
    owner: str
    attribute: str


def check(context: Context) -> Iterator[Finding]:
    file = python_file(context)
    closed = {
        name: fields for name, fields in ((found.name, _fields(found)) for found in file.classes.values()) if fields
    }
    if not closed:
        return
    stored = _stored(file)
    for read in _reads_of(file, closed):
        if read.attribute not in closed[read.owner] and read.attribute not in stored:
            yield _finding(file, read.site, read.owner, read.attribute, closed[read.owner])


def _reads_of(file: PythonFile, closed: Collection[str]) -> Iterator[Read]:
    """Attributes read from parameters that hold a config, and from ``self.config`` that keeps one."""
    for placed in file.units:
        for statement in placed.unit.body:
            for function, name, owner in kept(statement, _annotated):
                if owner in closed:
                    yield from _of_name(placed, function, name, owner)
    for found in file.modules:
        init = found.methods.get("__init__")
        if init is None:
            continue
        held = {name: _named(annotation) for name, annotation in config_parameters(init)}
        for name, owner in _constructed_with(file, found, init).items():
            held[name] = owner
            if owner in closed:
                yield from _of_name(found.placed, init, name, owner)
        for attribute, values in found.assigned.items():
            value = values[0]
            if len(values) != 1 or not isinstance(value, ast.Name) or held.get(value.id) not in closed:
                continue
            if _rebinds(init, value.id) or found in file.derived:
                continue
            for method in found.methods.values():
                yield from _of_attribute(found, method, attribute, held[value.id])


def _annotated(statement: ast.stmt) -> tuple[tuple[FunctionNode, str, str], ...]:
    """Functions with their parameters and the class that each is annotated with."""
    functions: list[FunctionNode] = [*nodes_of(statement, ast.FunctionDef), *nodes_of(statement, ast.AsyncFunctionDef)]
    return tuple(
        (function, name, _named(annotation))
        for function in functions
        for name, annotation in config_parameters(function)
    )


def _of_attribute(found: ClassFacts, method: FunctionNode, attribute: str, owner: str) -> Iterator[Read]:
    for node in () if kept(method, _guards) else nodes_of(method, ast.Attribute):
        if not isinstance(node.ctx, ast.Load) or node.attr.startswith("__"):
            continue
        if self_attribute(node.value) == attribute:
            yield Read(found.site(node), owner, node.attr)


def _of_name(placed: Placed, function: FunctionNode, name: str, owner: str) -> Iterator[Read]:
    if not kept(function, _guards) and not _rebinds(function, name):
        for node in kept(function, _read).get(name, ()):
            yield Read(Site(placed, node), owner, node.attr)


def _read(function: ast.AST) -> dict[str, list[ast.Attribute]]:
    """Attributes that are read of names, by name."""
    found: dict[str, list[ast.Attribute]] = {}
    for node in nodes_of(function, ast.Attribute):
        if isinstance(node.ctx, ast.Load) and isinstance(node.value, ast.Name) and not node.attr.startswith("__"):
            found.setdefault(node.value.id, []).append(node)
    return found


def _constructed_with(file: PythonFile, found: ClassFacts, init: FunctionNode) -> dict[str, str]:
    """The classes of parameters without annotation, where all constructions in the file make an instance for them."""
    names = [item.arg for item in init.args.args[1:] if item.annotation is None]
    order = [item.arg for item in init.args.args[1:]]
    if not names or found in file.derived:
        return {}
    made = [call for _, call in file.calls(found.name) if file.own_class(call) is found]
    held: dict[str, str] = {}
    for name in names:
        given = [argument(call, name, order.index(name)) for call in made]
        classes = {item.func.id for item in given if isinstance(item, ast.Call) and isinstance(item.func, ast.Name)}
        if given and len(classes) == 1 and all(isinstance(item, ast.Call) for item in given):
            held[name] = classes.pop()
    return held


def _fields(found: ClassFacts) -> frozenset[str] | None:
    """All attributes of a class that can have no others; None where that is not sure."""
    is_tuple = found.bases == ("typing.NamedTuple",)
    if (found.node.bases and not is_tuple) or found.node.keywords:
        return None
    if "__getattr__" in found.methods or "__getattribute__" in found.methods or found.is_module:
        return None
    declared = kept(found.node, _declared)
    if declared is None or not (declared.annotated or found.assigned):
        return None
    names = {*found.methods, *declared.names, *(_OF_TUPLES if is_tuple else ())}
    subclasses = (
        [each for each in found.file.classes.values() if found in each.lineage and each is not found]
        if found in found.file.derived
        else []
    )
    if any(_class_names(each) is None for each in subclasses):
        return None
    inherited = (name for each in subclasses for name in _class_names(each) or ())
    return frozenset(names | set(found.assigned) | set(inherited))


def _declared(node: ast.ClassDef) -> Declared | None:
    """What the body of a class declares; None where the class may have attributes that the text does not show."""
    names: set[str] = set()
    annotated = False
    for item in node.body:
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
            names.add(item.target.id)
            annotated = True
        elif isinstance(item, ast.Assign):
            names |= {each.id for target in item.targets for each in nodes_of(target, ast.Name)}
            annotated = True
        elif not isinstance(item, (*FUNCTIONS, ast.Expr, ast.Pass)):
            return None
    if any(_last_name(call) in ("setattr", "vars", "__setattr__", "exec") for call in nodes_of(node, ast.Call)):
        return None
    if any(each.attr == "__dict__" for each in nodes_of(node, ast.Attribute)):
        return None
    decorators = {ast.unparse(item).partition("(")[0].rpartition(".")[2] for item in node.decorator_list}
    return Declared(frozenset(names), annotated) if decorators <= {"dataclass"} else None


def _class_names(found: ClassFacts) -> frozenset[str] | None:
    """What a subclass adds; None where it may add anything."""
    if any(isinstance(node, ast.Call) and _last_name(node) in ("setattr", "vars") for node in nodes(found.node)):
        return None
    return frozenset(
        {node.id for item in found.node.body for node in nodes(item) if isinstance(node, ast.Name)}
        | set(found.methods)
        | set(found.assigned)
    )


def _last_name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _stored(file: PythonFile) -> frozenset[str]:
    """Attributes set on anything but self, by name, anywhere in the file."""
    return frozenset().union(*(kept(item, _stored_in) for placed in file.units for item in placed.unit.body))


def _stored_in(statement: ast.stmt) -> frozenset[str]:
    return frozenset(
        node.attr
        for node in nodes_of(statement, ast.Attribute)
        if isinstance(node.ctx, ast.Store) and not (isinstance(node.value, ast.Name) and node.value.id == "self")
    )


def _named(annotation: ast.expr) -> str:
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        return annotation.value
    return annotation.id if isinstance(annotation, ast.Name) else ""


def _guards(function: ast.AST) -> bool:
    return bool(nodes_of(function, ast.Try)) or any(
        getattr(node.func, "id", "") in ("hasattr", "setattr", "isinstance") for node in nodes_of(function, ast.Call)
    )


def _rebinds(function: ast.AST, name: str) -> bool:
    return name in kept(function, _bound)


def _bound(function: ast.AST) -> frozenset[str]:
    return frozenset(node.id for node in nodes_of(function, ast.Name) if isinstance(node.ctx, ast.Store))


def _finding(file: PythonFile, site: Site, owner: str, attribute: str, fields: frozenset[str]) -> Finding:
    near = closest(attribute, sorted(fields))
    advice = f"did you mean {near}?" if near else f"{owner} defines {', '.join(sorted(fields)[:8])}"
    found = file.classes[owner]
    return Finding(
        f"{owner} has no attribute {attribute}: this raises AttributeError when it runs; {advice}",
        site.place,
        (found.site(found.node).at(found.node.body[0]).related(f"{owner} is defined here"),),
    )
