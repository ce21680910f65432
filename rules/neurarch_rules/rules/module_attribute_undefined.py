from __future__ import annotations

import ast
from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.data import fact_set
from neurarch_rules.facts.python_attributes import attributes_of, stored_from_outside
from neurarch_rules.facts.python_file import (
    FUNCTIONS,
    ClassFacts,
    FunctionNode,
    first_argument,
    is_attribute_of,
    python_file,
)
from neurarch_rules.facts.spelling import closest
from neurarch_schemas.documents.python_nodes import children, kept, nodes_of

RULE = RuleInfo(
    name="module-attribute-undefined",
    severity="error",
    category="correctness",
    summary="A module reads an attribute of itself that nothing sets",
    reads=("python",),
    needs=("Module",),
)

SET_BY_LIBRARIES = frozenset(("gradient_checkpointing", "_gradient_checkpointing_func", "_hf_hook", "hf_device_map"))
"""What transformers, diffusers and accelerate set on modules of any class."""


def check(context: Context) -> Iterator[Finding]:
    file = python_file(context)
    outside = stored_from_outside(file)
    if outside is None:
        return
    for found in file.modules:
        names = None if found in file.derived else attributes_of(found)
        if names is None:
            continue
        names |= SET_BY_LIBRARIES
        own = names - fact_set("torch_signatures", "module_attributes")
        told: set[str] = set()
        for node in kept(found.node, _reads):
            if node.attr in names or node.attr in outside or node.attr in told or node.attr.startswith("__"):
                continue
            near = closest(node.attr, own)
            if near is not None or any(file.own_class(call) is found for _, call in file.calls(found.name)):
                told.add(node.attr)
                yield _finding(found, node, near)


def _reads(node: ast.ClassDef) -> tuple[ast.Attribute, ...]:
    """``self.NAME`` in methods, where self is the module."""
    methods = [item for item in node.body if isinstance(item, FUNCTIONS)]
    return tuple(read for method in methods for read in _in_method(method))


def _in_method(method: FunctionNode) -> Iterator[ast.Attribute]:
    decorators = {ast.unparse(item) for item in method.decorator_list}
    own = first_argument(method)
    if decorators & {"staticmethod", "classmethod"} or own != "self" or nodes_of(method, ast.Try):
        return
    waiting: list[ast.AST] = [method]
    for node in waiting:
        if node is not method and (isinstance(node, ast.ClassDef) or _renames(node, own)):
            continue
        if isinstance(node, ast.Attribute) and is_attribute_of(node, own) and isinstance(node.ctx, ast.Load):
            yield node
        waiting += children(node)


def _renames(node: ast.AST, own: str) -> bool:
    return isinstance(node, (*FUNCTIONS, ast.Lambda)) and any(item.arg == own for item in nodes_of(node.args, ast.arg))


def _finding(found: ClassFacts, node: ast.Attribute, near: str | None) -> Finding:
    advice = f"; did you mean {near}?" if near is not None else ""
    return Finding(
        f"{found.name} never sets {ast.unparse(node)}: this raises AttributeError when it runs{advice}",
        found.site(node).place,
    )
