"""Is this file ours, and what kind? Decided by its content, with its name as a hint only."""

from __future__ import annotations

from collections.abc import Collection

from neurarch_schemas.documents.document import FileKind
from neurarch_schemas.documents.json_value import JSONValue


def detect(file_name: str, data: JSONValue, folder_listing: Collection[str] | None = None) -> FileKind | None:
    """The kind of a JSON file, None when it is none of ours. ``data`` is None where nothing could be read."""
    name = file_name.replace("\\", "/").rpartition("/")[2].lower()
    if data is None:
        if name.endswith("generation_config.json"):
            return "generation_config"
        if name.endswith("adapter_config.json"):
            return "adapter_config"
        return "config" if name in ("config.json", "config.jsonc") else None
    if not isinstance(data, dict):
        return None
    if "weight_map" in data and name.endswith(".index.json"):
        return "index"
    if "_class_name" in data or "_diffusers_version" in data:
        return None
    if "peft_type" in data:
        return "adapter_config"
    if name.endswith("generation_config.json"):
        return "generation_config"
    if isinstance(data.get("model_type"), str) or isinstance(data.get("architectures"), list):
        return "config"
    if {"dim", "n_layers", "n_heads"} <= data.keys():
        return "params"
    return None
