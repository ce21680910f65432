"""LoRA adapters and the base model beside them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from neurarch_schemas.analysis import Analysis
    from neurarch_schemas.documents.json_value import JSONValue
    from neurarch_schemas.modules.tree import Module


def base_file(analysis: Analysis) -> tuple[str, dict[str, JSONValue]] | None:
    """The base model's config with its name relative to the adapter, where the folder snapshot holds one."""
    files = analysis.folder.json_files
    named = [name for name in files if os.path.basename(name) == "config.json"]
    candidates = [(name, data) for name in named if isinstance(data := files[name], dict) and data.get("model_type")]
    candidates.sort(key=lambda item: (item[0] == "config.json", item[0]))
    for name, data in candidates:
        if isinstance(data, dict):
            return name, data
    return None


def base_tree(data: dict[str, JSONValue]) -> Module | None:
    """The module tree of the base model; None where it cannot be built."""
    from neurarch_schemas import architectures
    from neurarch_schemas.config.errors import CannotBuild
    from neurarch_schemas.config.read import read_config

    try:
        return architectures.build(read_config(data))
    except CannotBuild:
        return None


def linear_names(tree: Module) -> dict[str, str]:
    """Paths of the modules that hold a weight matrix -> their last name, the head and embeddings included."""
    from neurarch_schemas.modules.tree import walk

    found: dict[str, str] = {}
    for visit in walk(tree):
        if any(tensor.name == "weight" and len(tensor.shape) >= 2 for tensor in visit.module.tensors):
            found[visit.path] = visit.path.rpartition(".")[2]
    return found
