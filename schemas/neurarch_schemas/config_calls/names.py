"""Which model type a class name in Python code means."""

from __future__ import annotations

import ast
from functools import cache
from typing import TYPE_CHECKING

from neurarch_schemas.catalogue.load import index

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from neurarch_schemas.documents.python_units import Placed


def imported_names(units: Iterable[Placed]) -> dict[str, str]:
    """Local name -> qualified name; relative imports begin with a dot."""
    found: dict[str, str] = {}
    for placed in units:
        for node in placed.unit.imports:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.asname:
                        found[alias.asname] = alias.name
                    else:
                        top = alias.name.partition(".")[0]
                        found[top] = top
            else:
                module = "." * node.level + (node.module or "")
                for alias in node.names:
                    if alias.name != "*":
                        found[alias.asname or alias.name] = f"{module}.{alias.name}" if module else alias.name
    return found


@cache
def types_by_class() -> Mapping[str, str]:
    """Config class -> model type; a class of several types is left to the one named like it."""
    found: dict[str, str] = {}
    for model_type, entry in index()["types"].items():
        name = entry[0]
        plain = name.removesuffix("Config").lower()
        if name not in found or model_type.replace("_", "").replace("-", "") == plain:
            found[name] = model_type
    return found


def type_of(qualified: str | None) -> str | None:
    """The model type of a config class of transformers ("transformers.LlamaConfig")."""
    if qualified is None or not qualified.startswith("transformers."):
        return None
    return types_by_class().get(qualified.rpartition(".")[2])
