"""The attributes of a configuration class in Python code: dataclasses, plain classes, those of transformers."""

from __future__ import annotations

import ast
from typing import NamedTuple

from neurarch_rules.facts.data import fact_set
from neurarch_rules.facts.python_file import FUNCTIONS, ClassFacts, last_name
from neurarch_schemas.catalogue.load import config_type
from neurarch_schemas.config_calls.names import type_of
from neurarch_schemas.documents.python_nodes import kept, nodes, nodes_of

DECORATORS = frozenset(("dataclass", "strict", "auto_docstring", "add_start_docstrings"))
"""Decorators of a class that give its instances no further attribute."""


_OF_TUPLES = ("_asdict", "_replace", "_fields", "count", "index")


class Fields(NamedTuple):
    """The attributes a class gives its instances; where ``open``, a keyword argument of any name adds another."""

    names: frozenset[str]
    open: bool
    elsewhere: frozenset[str] = frozenset()
    """Attributes that it may have in other versions of its library."""


class Declared(NamedTuple):
    """Names given a value or an annotation in a class body; ``annotated`` where there are any."""

    names: frozenset[str]
    annotated: bool
    mapped: frozenset[str]
    """The other names of ``attribute_map = {"hidden_size": "n_embd"}``."""


def fields_of(found: ClassFacts) -> Fields | None:
    """All attributes of a class; None where that is not sure."""
    is_tuple = found.bases == ("typing.NamedTuple",)
    inherited: frozenset[str] | None = frozenset(_OF_TUPLES if is_tuple else ())
    if found.node.bases and not is_tuple:
        inherited = _inherited(found)
    if inherited is None or found.node.keywords:
        return None
    own = [_own_fields(each) for each in found.lineage]
    return None if None in own else Fields(inherited.union(*filter(None, own)), bool(found.node.bases) and not is_tuple)


def imported_fields(qualified: str | None) -> Fields | None:
    """The attributes of a config class of transformers."""
    model_type = type_of(qualified)
    record = None if model_type is None else config_type(model_type)
    if record is None:
        return None
    names = {*record.known_names, *record.attributes, *fact_set("config_base", "names")}
    return Fields(frozenset(names), True, fact_set("known_keys", "keys"))


def _inherited(found: ClassFacts) -> frozenset[str] | None:
    """What a config class that derives from PretrainedConfig, or from a config class of transformers, has from there;
    None where a base is another one. Any further attribute can only come from a config.json or a keyword argument."""
    names: set[str] = set()
    for each in found.lineage:
        for base, node in zip(each.bases, each.node.bases, strict=True):
            if isinstance(node, ast.Name) and node.id in found.file.classes:
                continue
            library = imported_fields(base)
            if library is not None:
                names |= library.names
            elif base is None or base.rpartition(".")[2] not in ("PretrainedConfig", "PreTrainedConfig"):
                return None
    return frozenset(names) | fact_set("config_base", "names") if found.node.bases else None


def _own_fields(found: ClassFacts) -> frozenset[str] | None:
    """What a class of the file adds to its bases, and what those that derive from it may add."""
    if "__getattr__" in found.methods or "__getattribute__" in found.methods or found.is_module:
        return None
    declared = kept(found.node, _declared)
    if declared is None or not (declared.annotated or found.assigned):
        return None
    names = {*found.methods, *declared.names, *declared.mapped}
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
    mapped: set[str] = set()
    annotated = False
    for item in node.body:
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
            names.add(item.target.id)
            annotated = True
        elif isinstance(item, ast.Assign):
            names |= {each.id for target in item.targets for each in nodes_of(target, ast.Name)}
            annotated = True
            if isinstance(item.value, ast.Dict):
                mapped |= {str(key.value) for key in item.value.keys if isinstance(key, ast.Constant)}
        elif not isinstance(item, (*FUNCTIONS, ast.Expr, ast.Pass)):
            return None
    if any(last_name(call) in ("setattr", "vars", "__setattr__", "exec") for call in nodes_of(node, ast.Call)):
        return None
    if any(each.attr == "__dict__" for each in nodes_of(node, ast.Attribute)):
        return None
    decorators = {ast.unparse(item).partition("(")[0].rpartition(".")[2] for item in node.decorator_list}
    return Declared(frozenset(names), annotated, frozenset(mapped)) if decorators <= DECORATORS else None


def _class_names(found: ClassFacts) -> frozenset[str] | None:
    """What a subclass adds; None where it may add anything."""
    if any(isinstance(node, ast.Call) and last_name(node) in ("setattr", "vars") for node in nodes(found.node)):
        return None
    return frozenset(
        {node.id for item in found.node.body for node in nodes(item) if isinstance(node, ast.Name)}
        | set(found.methods)
        | set(found.assigned)
    )
