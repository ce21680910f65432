from __future__ import annotations

import ast
from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Related
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.python_file import (
    FUNCTIONS,
    ClassFacts,
    Site,
    argument,
    assignments,
    first_argument,
    is_attribute_of,
    python_file,
)
from neurarch_rules.facts.python_reach import of_classes
from neurarch_schemas.documents.python_nodes import nodes

RULE = RuleInfo(
    name="registered-name-taken",
    severity="error",
    category="correctness",
    summary="A buffer, parameter or module is registered under a name that the module already has",
    reads=("python",),
    needs=("register_", "add_module"),
)
METHODS = {
    "register_buffer": "buffer",
    "register_parameter": "parameter",
    "add_module": "module",
    "register_module": "module",
}


def check(context: Context) -> Iterator[Finding]:
    return of_classes(python_file(context).modules, _of_class)


def _of_class(found: ClassFacts) -> Iterator[Finding]:
    method = found.methods.get("__init__")
    if method is None or any(isinstance(node, ast.Delete) for node in nodes(method)):
        return
    own = first_argument(method)
    taken: dict[str, Site] = dict(_of_body(found))
    for statement in method.body:
        value = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and is_attribute_of(value.func, own):
            kind, name = METHODS.get(value.func.attr), argument(value, "name", 0)
            if kind is not None and isinstance(name, ast.Constant) and isinstance(name.value, str):
                if name.value in taken:
                    yield _finding(found.site(value), kind, name.value, taken[name.value])
                taken.pop(name.value, None)
        if isinstance(statement, ast.Assign | ast.AnnAssign):
            for target, given in assignments(statement):
                if isinstance(target, ast.Attribute) and is_attribute_of(target, own):
                    if given is not None and not _may_register(found, given):
                        taken[target.attr] = found.site(statement)
                    else:
                        taken.pop(target.attr, None)


def _of_body(found: ClassFacts) -> Iterator[tuple[str, Site]]:
    """Methods and values of the class."""
    for item in found.node.body:
        if isinstance(item, FUNCTIONS):
            if not item.decorator_list:
                yield item.name, found.site(item)
        elif isinstance(item, ast.Assign):
            yield from ((target.id, found.site(item)) for target in item.targets if isinstance(target, ast.Name))
        elif isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name) and item.value is not None:
            yield item.target.id, found.site(item)


def _may_register(found: ClassFacts, value: ast.expr) -> bool:
    """The assignment may itself register a parameter or module: anything but a plain value may."""
    plain = (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.Set, ast.JoinedStr)
    is_tensor = isinstance(value, ast.Call) and (found.file.qualified(value.func) or "") in (
        "torch.zeros",
        "torch.ones",
        "torch.tensor",
        "torch.arange",
        "torch.tril",
        "torch.triu",
        "torch.randn",
        "torch.empty",
    )
    return not isinstance(value, plain) and not is_tensor


def _finding(site: Site, kind: str, name: str, first: Site) -> Finding:
    return Finding(
        f"the module has an attribute {name} already, so registering a {kind} of this name raises KeyError (attribute "
        f"'{name}' already exists); drop the first one or use another name",
        site.place,
        (Related(first.place, f"{name} is set here"),),
    )
