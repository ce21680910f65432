"""What related model types have as default for a key."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from neurarch_lsp.render.key_facts import facts, value_text
from neurarch_lsp.render.markup import Block, Text, code
from neurarch_schemas.catalogue import load as catalogue

if TYPE_CHECKING:
    from neurarch_schemas.analysis import Analysis

MAX_SIBLINGS = 6
_STEM = re.compile(r"[a-z]+")


def sibling_defaults(analysis: Analysis, pointer: str) -> list[Block]:
    """Defaults in types whose name begins with the same word ("qwen"), the type itself left out."""
    found = facts(analysis.config, pointer) if analysis.config is not None else None
    if found is None or found.record is None:
        return []
    stem = _STEM.match(found.record.model_type)
    if stem is None or len(stem.group()) < 3:
        return []
    values: list[str] = []
    for name in catalogue.index()["types"]:
        if not name.startswith(stem.group()) or name == found.record.model_type:
            continue
        record = catalogue.config_type(name)
        default = record.resolved.get(found.name) if record else None
        if default is not None and not isinstance(default, dict | list):
            values.append(f"{code(name)} {value_text(default, 20)}")
        if len(values) >= MAX_SIBLINGS:
            break
    return [Text("Defaults of related types: " + ", ".join(values) + ".")] if values else []
