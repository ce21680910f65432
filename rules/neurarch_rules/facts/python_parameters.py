"""Loops over ``named_parameters()`` and what their names are compared with."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from neurarch_rules.facts.python_file import ClassFacts, Site
from neurarch_schemas.documents.python_nodes import nodes


@dataclass(frozen=True)
class NameTest:
    """``method`` is "==", "in", "endswith" or "startswith"; ``body`` what runs when the name fits."""

    site: Site
    variable: str
    method: str
    text: str
    body: tuple[ast.stmt, ...]
    of_parameters: bool


def name_tests(found: ClassFacts) -> Iterator[NameTest]:
    """In the class's own methods, over ``self.named_parameters()`` without a prefix, or over those of a module that an
    ``isinstance`` of ``PreTrainedModel`` says is a whole model."""
    for method in found.methods.values():
        for loop in nodes(method):
            if not isinstance(loop, ast.For) or not isinstance(loop.target, ast.Tuple) or not loop.target.elts:
                continue
            name, source = loop.target.elts[0], loop.iter
            if not isinstance(name, ast.Name) or not isinstance(source, ast.Call) or source.args or source.keywords:
                continue
            if not isinstance(source.func, ast.Attribute) or not isinstance(source.func.value, ast.Name):
                continue
            owner = source.func.value.id
            if (owner != "self" and not _is_whole_model(found, loop, owner)) or source.func.attr not in (
                "named_parameters",
                "named_modules",
            ):
                continue
            for node in nodes(loop):
                if isinstance(node, ast.If):
                    for test in _tests(found, node, name.id):
                        yield NameTest(*test, tuple(node.body), source.func.attr == "named_parameters")


def _is_whole_model(found: ClassFacts, loop: ast.For, name: str) -> bool:
    """The loop runs only where ``isinstance(name, PreTrainedModel)``, or a class of the file that derives from it."""
    parents = found.placed.unit.parents
    node: ast.AST = loop
    while parents[node] is not node:
        above = parents[node]
        if isinstance(above, ast.If) and node in above.body and isinstance(above.test, ast.Call):
            test = above.test
            if getattr(test.func, "id", "") == "isinstance" and len(test.args) == 2:
                checked, kind = test.args
                own = found.file.classes.get(kind.id) if isinstance(kind, ast.Name) else None
                derived = own is not None and any(each.name.endswith("PreTrainedModel") for each in own.lineage[1:])
                is_model = derived or ast.unparse(kind).rpartition(".")[2] == "PreTrainedModel"
                return is_model and isinstance(checked, ast.Name) and checked.id == name
        node = above
    return False


def _tests(found: ClassFacts, node: ast.If, name: str) -> Iterator[tuple[Site, str, str, str]]:
    if any(isinstance(part, ast.Not) for part in nodes(node.test)):
        return
    for part in nodes(node.test):
        if isinstance(part, ast.Compare) and len(part.ops) == 1:
            left, right = part.left, part.comparators[0]
            if isinstance(part.ops[0], ast.Eq):
                for one, other in ((left, right), (right, left)):
                    if isinstance(one, ast.Name) and one.id == name and _is_text(other):
                        yield found.site(part), name, "==", other.value  # type: ignore[attr-defined]  # a constant
            if isinstance(part.ops[0], ast.In) and isinstance(left, ast.Name) and left.id == name:
                for item in right.elts if isinstance(right, ast.Tuple | ast.List | ast.Set) else ():
                    if isinstance(item, ast.Constant) and isinstance(item.value, str):
                        yield found.site(item), name, "==", item.value
            if isinstance(part.ops[0], ast.In) and isinstance(right, ast.Name) and right.id == name and _is_text(left):
                yield found.site(part), name, "in", left.value  # type: ignore[attr-defined]  # a constant
        if not isinstance(part, ast.Call) or not isinstance(part.func, ast.Attribute) or len(part.args) != 1:
            continue
        if part.func.attr in ("endswith", "startswith") and isinstance(part.func.value, ast.Name):
            argument = part.args[0]
            if part.func.value.id == name and isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                yield found.site(part), name, part.func.attr, argument.value


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
