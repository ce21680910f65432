"""Configuration classes in Python code: which type a class name means, and which parameters hold a config."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache

from neurarch_rules.facts.python_file import FunctionNode, PythonFile


@cache
def _types_by_class() -> dict[str, str]:
    """Config class -> model type; a class of several types is left to the one named like it."""
    from neurarch_schemas.catalogue.load import index

    found: dict[str, str] = {}
    for model_type, entry in index()["types"].items():
        name = entry[0]
        plain = name.removesuffix("Config").lower()
        if name not in found or model_type.replace("_", "").replace("-", "") == plain:
            found[name] = model_type
    return found


def transformers_type(file: PythonFile, node: ast.expr) -> str | None:
    """The model type of a config class of transformers that an expression names."""
    name = file.qualified(node)
    if name is None or not name.startswith("transformers."):
        return None
    return _types_by_class().get(name.rpartition(".")[2])


def config_parameters(function: FunctionNode) -> Iterator[tuple[str, ast.expr]]:
    """Parameters with their annotation."""
    for item in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs):
        if item.annotation is not None:
            yield item.arg, item.annotation
