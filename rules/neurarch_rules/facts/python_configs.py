"""Configuration classes in Python code: which type a class name means, and which parameters hold a config."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from neurarch_rules.facts.data import facts
from neurarch_rules.facts.python_file import FunctionNode, PythonFile, self_attribute
from neurarch_rules.facts.python_flow import Scope, made_by, scope_of
from neurarch_schemas.config_calls.names import type_of

if TYPE_CHECKING:
    from neurarch_schemas.documents.python_units import Placed


def transformers_type(file: PythonFile, node: ast.expr) -> str | None:
    """The model type of a config class of transformers that an expression names."""
    return type_of(file.qualified(node))


def config_parameters(function: FunctionNode) -> Iterator[tuple[str, ast.expr]]:
    """Parameters with their annotation."""
    for item in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs):
        if item.annotation is not None:
            yield item.arg, item.annotation


def checkpoint_family(checkpoint: str) -> str | None:
    """The class prefix of a published checkpoint, by its name."""
    return next(
        (family for pattern, family in facts("checkpoint_families")["names"] if re.match(pattern, checkpoint)), None
    )


def held_type(file: PythonFile, placed: Placed, node: ast.expr) -> str | None:
    """The model type of the config that a name or an attribute of self surely holds."""
    scope = scope_of(file, placed, node)
    attribute = self_attribute(node)
    if attribute is not None and scope.owner is not None:
        values, init = scope.owner.assigned.get(attribute, []), scope.owner.methods.get("__init__")
        if len(values) != 1 or values[0] is None or init is None or scope.owner in file.derived:
            return None
        return _type_given(file, placed, values[0], Scope(placed, tuple(init.body), scope.owner, init))
    return _type_given(file, placed, node, scope) if isinstance(node, ast.Name) else None


def _type_given(file: PythonFile, placed: Placed, node: ast.expr, scope: Scope) -> str | None:
    if isinstance(node, ast.Name) and scope.function is not None and node.id in scope.parameters:
        annotations = dict(config_parameters(scope.function))
        stored = any(
            isinstance(each, ast.Name) and each.id == node.id and not isinstance(each.ctx, ast.Load)
            for each in ast.walk(scope.function)
        )
        return None if stored or node.id not in annotations else transformers_type(file, annotations[node.id])
    made = made_by(file, placed, node)
    if not isinstance(made, ast.Call):
        return None
    if not isinstance(made.func, ast.Attribute) or made.func.attr != "from_pretrained":
        return transformers_type(file, made.func)
    if file.qualified(made.func.value) != "transformers.AutoConfig":
        return transformers_type(file, made.func.value)
    name = made_by(file, placed, made.args[0]) if made.args else None
    family = checkpoint_family(name.value) if isinstance(name, ast.Constant) and isinstance(name.value, str) else None
    return None if family is None else type_of(f"transformers.{family}Config")
