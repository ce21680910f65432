"""What names in Python code mean: what is imported, what is bound once, which model type a class stands for."""

from __future__ import annotations

import ast
from functools import cache, cached_property
from typing import TYPE_CHECKING

from neurarch_schemas.catalogue.load import index

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from neurarch_schemas.config_calls.bindings import Bindings
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


class Names:
    """What names of a file mean: imported ones, and those bound once. ``own`` are the classes it defines."""

    def __init__(self, imports: Mapping[str, str], own: frozenset[str], bindings: Callable[[], Bindings]) -> None:
        self._imports = imports
        self._own = own
        self._make_bindings = bindings

    @cached_property
    def bindings(self) -> Bindings:
        """Made when first asked for: few files need them."""
        return self._make_bindings()

    def qualified(self, node: ast.AST) -> str | None:
        """``transformers.LlamaConfig``; None for what is no imported name."""
        if isinstance(node, ast.Name):
            return None if node.id in self._own else self._imports.get(node.id)
        if isinstance(node, ast.Attribute):
            base = self.qualified(node.value)
            return None if base is None else f"{base}.{node.attr}"
        return None

    def model_type(self, node: ast.AST) -> str | None:
        return type_of(self.qualified(node))
