"""Which attributes a module class can have."""

from __future__ import annotations

import ast

from neurarch_rules.facts.data import fact_set
from neurarch_rules.facts.python_file import FUNCTIONS, ClassFacts, PythonFile
from neurarch_schemas.documents.python_nodes import kept, nodes_of

REGISTERING = ("register_buffer", "register_parameter", "add_module", "register_module", "setattr", "__setattr__")
KNOWN = frozenset(("super", "isinstance", "type", "len", "id", "repr", "print", "hasattr", "getattr", "__init__"))
"""Calls that are handed the module and set nothing on it."""
UNSEEN = frozenset(("vars", "locals", "exec", "eval", "globals"))


def attributes_of(found: ClassFacts) -> frozenset[str] | None:
    """All attributes that instances of a class may have by its text; None where it may have others."""
    if not found.is_closed:
        return None
    names = set(fact_set("torch_signatures", "module_attributes"))
    for each in found.lineage:
        own = kept(each.node, _own)
        if own is None:
            return None
        names |= own
    return frozenset(names)


def _own(node: ast.ClassDef) -> frozenset[str] | None:
    if node.decorator_list or node.keywords:
        return None
    names: set[str] = set()
    for item in node.body:
        if isinstance(item, (*FUNCTIONS, ast.ClassDef)):
            names.add(item.name)
        names.update(name.id for name in nodes_of(item, ast.Name) if not isinstance(name.ctx, ast.Load))
    if {"__getattr__", "__getattribute__", "__slots__"} & names:
        return None
    for attribute in nodes_of(node, ast.Attribute):
        if attribute.attr in ("__dict__", "_modules", "_buffers", "_parameters"):
            return None
        if not isinstance(attribute.ctx, ast.Load):
            names.add(attribute.attr)
    for call in nodes_of(node, ast.Call):
        function = call.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        if name in UNSEEN:
            return None
        if name not in KNOWN and any(isinstance(item, ast.Name) and item.id == "self" for item in call.args):
            # a function that is handed the module may set what its texts name, or anything
            texts = [item.value for item in call.args if isinstance(item, ast.Constant) and isinstance(item.value, str)]
            if not texts:
                return None
            names.update(texts)
        if name in REGISTERING or name == "hasattr" or name == "getattr":
            text = next((item.value for item in call.args if isinstance(item, ast.Constant)), None)
            if isinstance(text, str):
                names.add(text)
            elif name in REGISTERING:
                return None
    return frozenset(names)


def stored_from_outside(file: PythonFile) -> frozenset[str] | None:
    """Attributes set on any object anywhere in the file; None where their names are computed."""
    found: set[str] = set()
    for placed in file.units:
        for statement in placed.unit.body:
            if kept(statement, _sets_any):
                return None
            found |= kept(statement, _set)
    return frozenset(found)


def _set(statement: ast.stmt) -> frozenset[str]:
    names = {node.attr for node in nodes_of(statement, ast.Attribute) if not isinstance(node.ctx, ast.Load)}
    for call in nodes_of(statement, ast.Call):
        if getattr(call.func, "id", "") == "setattr" and len(call.args) == 3:
            names.add(str(getattr(call.args[1], "value", "")))
    return frozenset(names)


def _sets_any(statement: ast.stmt) -> bool:
    return any(
        getattr(call.func, "id", "") == "setattr" and len(call.args) == 3 and not isinstance(call.args[1], ast.Constant)
        for call in nodes_of(statement, ast.Call)
    )
