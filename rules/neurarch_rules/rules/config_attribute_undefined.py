from __future__ import annotations

import ast
from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.python_configs import config_parameters
from neurarch_rules.facts.python_file import FUNCTIONS, ClassFacts, PythonFile, Site, nodes, python_file
from neurarch_rules.facts.spelling import closest

RULE = RuleInfo(
    name="config-attribute-undefined",
    severity="error",
    category="correctness",
    summary="A model reads an attribute its config class never defines",
    reads=("python",),
    needs=("onfig", "Args", "args", "cfg"),
)


def check(context: Context) -> Iterator[Finding]:
    file = python_file(context)
    closed = {
        name: fields for name, fields in ((found.name, _fields(found)) for found in file.classes.values()) if fields
    }
    if not closed:
        return
    stored = _stored(file)
    for placed in file.units:
        for function in placed.unit.parents:
            if not isinstance(function, FUNCTIONS):
                continue
            for name, annotation in config_parameters(function):
                fields = closed.get(_named(annotation))
                if fields is None or _guards(function) or _rebinds(function, name):
                    continue
                for node in nodes(function):
                    if _reads(node, name) and node.attr not in fields and node.attr not in stored:  # type: ignore[attr-defined]  # an attribute
                        yield _finding(file, Site(placed, node), _named(annotation), node.attr, fields)  # type: ignore[attr-defined]  # an attribute


def _fields(found: ClassFacts) -> frozenset[str] | None:
    """All attributes of a class that can have no others; None where that is not sure."""
    if found.node.bases or found.node.keywords or "__getattr__" in found.methods or "__getattribute__" in found.methods:
        return None
    names: set[str] = set(found.methods)
    annotated = False
    for item in found.node.body:
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
            names.add(item.target.id)
            annotated = True
        elif isinstance(item, ast.Assign):
            names |= {node.id for target in item.targets for node in nodes(target) if isinstance(node, ast.Name)}
            annotated = True
        elif not isinstance(item, (*FUNCTIONS, ast.Expr, ast.Pass)):
            return None
    if any(
        isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("setattr", "vars") for node in nodes(found.node)
    ):
        return None
    if any(isinstance(node, ast.Attribute) and node.attr == "__dict__" for node in nodes(found.node)):
        return None
    decorators = {ast.unparse(item).partition("(")[0].rpartition(".")[2] for item in found.node.decorator_list}
    if not annotated or not decorators <= {"dataclass"}:
        return None
    return frozenset(names | set(found.assigned))


def _stored(file: PythonFile) -> frozenset[str]:
    """Attributes set on anything but self, by name, anywhere in the file."""
    return frozenset(
        node.attr
        for placed in file.units
        for node in placed.unit.parents
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and not (isinstance(node.value, ast.Name) and node.value.id == "self")
    )


def _named(annotation: ast.expr) -> str:
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        return annotation.value
    return annotation.id if isinstance(annotation, ast.Name) else ""


def _guards(function: ast.AST) -> bool:
    return any(
        isinstance(node, ast.Try)
        or (isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("hasattr", "setattr", "isinstance"))
        for node in nodes(function)
    )


def _rebinds(function: ast.AST, name: str) -> bool:
    return any(
        isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store) for node in nodes(function)
    )


def _reads(node: ast.AST, name: str) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Load)
        and isinstance(node.value, ast.Name)
        and node.value.id == name
        and not node.attr.startswith("__")
    )


def _finding(file: PythonFile, site: Site, owner: str, attribute: str, fields: frozenset[str]) -> Finding:
    near = closest(attribute, sorted(fields))
    advice = f"did you mean {near}?" if near else f"{owner} defines {', '.join(sorted(fields)[:8])}"
    found = file.classes[owner]
    return Finding(
        f"{owner} has no attribute {attribute}: this raises AttributeError when it runs; {advice}",
        site.place,
        (found.site(found.node).at(found.node.body[0]).related(f"{owner} is defined here"),),
    )
