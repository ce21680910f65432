from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, NamedTuple

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.python_config_fields import fields_of, imported_fields
from neurarch_rules.facts.python_configs import config_parameters
from neurarch_rules.facts.python_file import (
    ClassFacts,
    FunctionNode,
    PythonFile,
    Site,
    argument,
    python_file,
    self_attribute,
)
from neurarch_rules.facts.python_flow import made_by
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


class Read(NamedTuple):
    site: Site
    owner: str
    attribute: str
    reader: ClassFacts | None = None
    """The module whose constructor reads it, whatever its arguments are."""


def check(context: Context) -> Iterator[Finding]:
    file = python_file(context)
    own = {name: fields_of(found) for name, found in file.classes.items()}
    imported = {name: imported_fields(file.imports[name]) for name in file.imports.keys() - own.keys()}
    known = {name: fields for name, fields in (imported | own).items() if fields is not None}
    if not known:
        return
    stored = _stored(file)
    told: set[ast.AST] = set()
    for read in _reads_of(file, known):
        fields = known[read.owner]
        is_defined = any(read.attribute in names for names in (fields.names, fields.elsewhere, stored))
        if is_defined or read.site.node in told:
            continue
        if not fields.open or _is_certain(file, read):
            told.add(read.site.node)
            yield _finding(file, read, fields.names)
        elif _is_slip(read.attribute, fields.names) and not _is_given(file, read):
            told.add(read.site.node)
            yield _finding(file, read, fields.names, "unless a config.json holds it, ")


def _reads_of(file: PythonFile, known: Collection[str]) -> Iterator[Read]:
    """Attributes read from parameters that hold a config, and from ``self.config`` that keeps one."""
    for placed in file.units:
        for statement in placed.unit.body:
            for function, name, owner in kept(statement, _annotated):
                if owner in known:
                    yield from _of_name(placed, function, name, owner)
    for found in file.modules:
        init = found.methods.get("__init__")
        if init is None:
            continue
        held = {name: _named(annotation) for name, annotation in config_parameters(init)}
        for name, owner in _constructed_with(file, found, init).items():
            held[name] = owner
            if owner in known:
                yield from _of_name(found.placed, init, name, owner)
        yield from _in_constructor(found, init, held, known)
        for attribute, values in found.assigned.items():
            value = values[0]
            if len(values) != 1 or not isinstance(value, ast.Name) or held.get(value.id) not in known:
                continue
            if _rebinds(init, value.id) or found in file.derived:
                continue
            for method in found.methods.values():
                yield from _of_attribute(found, method, attribute, held[value.id])


def _in_constructor(
    found: ClassFacts, init: FunctionNode, held: dict[str, str], known: Collection[str]
) -> Iterator[Read]:
    """What a constructor reads of its config for sure, without a condition."""
    for name, owner in held.items():
        if owner in known and not _rebinds(init, name) and not kept(init, _guards):
            for statement in init.body:
                if isinstance(statement, ast.Assign | ast.AnnAssign | ast.Expr):
                    for node in () if _may_skip(statement) else kept(statement, _read).get(name, ()):
                        yield Read(found.site(node), owner, node.attr, found)


def _may_skip(statement: ast.stmt) -> bool:
    """Not every part of it is evaluated."""
    return any(isinstance(node, ast.IfExp | ast.BoolOp | ast.comprehension | ast.Lambda) for node in nodes(statement))


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
    decorators = {node for item in getattr(function, "decorator_list", ()) for node in nodes(item)}
    for node in nodes_of(function, ast.Attribute):
        if node in decorators:
            continue
        if isinstance(node.ctx, ast.Load) and isinstance(node.value, ast.Name) and not node.attr.startswith("__"):
            found.setdefault(node.value.id, []).append(node)
    return found


def _constructed_with(file: PythonFile, found: ClassFacts, init: FunctionNode) -> dict[str, str]:
    """The classes of parameters without annotation, where all constructions in the file make an instance for them."""
    names = [item.arg for item in init.args.args[1:] if item.annotation is None]
    order = [item.arg for item in init.args.args[1:]]
    if not names or found in file.derived:
        return {}
    made = [(placed, call) for placed, call in file.calls(found.name) if file.own_class(call) is found]
    held: dict[str, str] = {}
    for name in names:
        given = [made_by(file, placed, argument(call, name, order.index(name))) for placed, call in made]
        classes = {item.func.id for item in given if isinstance(item, ast.Call) and isinstance(item.func, ast.Name)}
        if given and len(classes) == 1 and all(isinstance(item, ast.Call) for item in given):
            held[name] = classes.pop()
    return held


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


def _is_slip(attribute: str, names: frozenset[str]) -> bool:
    """A misspelling of an attribute, not the name of another one: ``q_rank`` is none of ``kv_rank``."""
    near = closest(attribute, names)
    if near is None or any(letter.isdigit() for letter in attribute + near):
        return False
    left, right = attribute.split("_"), near.split("_")
    if len(left) != len(right):
        return attribute.replace("_", "") == near.replace("_", "")
    return all(len(one) > 3 and len(other) > 3 for one, other in zip(left, right, strict=True) if one != other)


def _is_certain(file: PythonFile, read: Read) -> bool:
    """The file constructs the module with a config that it makes without this attribute."""
    if read.reader is None or read.reader in file.derived:
        return False
    for placed, call in file.calls(read.reader.name):
        config = made_by(file, placed, call.args[0]) if call.args and file.own_class(call) is read.reader else None
        if isinstance(config, ast.Call) and getattr(config.func, "id", "") == read.owner:
            return not config.args and all(each.arg not in (None, read.attribute) for each in config.keywords)
    return False


def _is_given(file: PythonFile, read: Read) -> bool:
    """A construction in the file passes it, or something that may hold it."""
    return any(keyword.arg in (None, read.attribute) for _, call in file.calls(read.owner) for keyword in call.keywords)


def _finding(file: PythonFile, read: Read, fields: frozenset[str], unless: str = "") -> Finding:
    near = closest(read.attribute, fields)
    advice = f"did you mean {near}?" if near else f"{read.owner} defines {', '.join(sorted(fields)[:8])}"
    found = file.classes.get(read.owner)
    return Finding(
        f"{read.owner} has no attribute {read.attribute}: {unless}this raises AttributeError when it runs; {advice}",
        read.site.place,
        () if found is None else (found.site(found.node.body[0]).related(f"{read.owner} is defined here"),),
        severity="warning" if unless else None,
    )
