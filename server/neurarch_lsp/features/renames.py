"""Keys that transformers has renamed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neurarch_lsp.render.key_facts import owner_of
from neurarch_schemas.documents.pointer import split_pointer

if TYPE_CHECKING:
    from neurarch_schemas.analysis import Analysis

RENAMED = {"torch_dtype": "dtype"}
"""transformers 5 writes the new spelling and reads both."""


def new_spelling(analysis: Analysis, pointer: str) -> str | None:
    """The canonical name of a key written under another, None when it has the canonical one."""
    config = analysis.config
    owner = owner_of(config, pointer) if config is not None else None
    key = split_pointer(pointer)[-1] if pointer else ""
    if owner is None:
        return None
    name = RENAMED.get(key) or owner.synonyms.get(key, key)
    return name if name != key else None
