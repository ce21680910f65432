"""Configuration classes in Python code: which type a class name means, and which parameters hold a config."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neurarch_rules.facts.python_file import FunctionNode, PythonFile
from neurarch_schemas.config_calls.names import type_of


def transformers_type(file: PythonFile, node: ast.expr) -> str | None:
    """The model type of a config class of transformers that an expression names."""
    return type_of(file.qualified(node))


def config_parameters(function: FunctionNode) -> Iterator[tuple[str, ast.expr]]:
    """Parameters with their annotation."""
    for item in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs):
        if item.annotation is not None:
            yield item.arg, item.annotation
