"""Everything known about one file: computed lazily, once, and shared by rules, hovers and reports."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from neurarch_schemas.config.errors import CannotBuild

if TYPE_CHECKING:
    from neurarch_schemas.config.model_config import ModelConfig
    from neurarch_schemas.documents.json_document import JsonDocument
    from neurarch_schemas.modules.tree import Module
    from neurarch_schemas.surroundings.folder import Folder

FileKind = Literal["config", "generation_config", "adapter_config", "params", "index", "python", "settings"]


@dataclass(frozen=True)
class Built:
    """The module tree, or why there is none."""

    tree: Module | None
    reason: str | None
    keys: tuple[str, ...] = ()


@dataclass(frozen=True)
class Analysis:
    document: JsonDocument
    kind: FileKind
    folder: Folder
    config: ModelConfig | None
    """None when the file is ours but holds no model (generation_config.json, adapter_config.json)."""

    @cached_property
    def built(self) -> Built:
        from neurarch_schemas import architectures

        if self.config is None:
            return Built(None, "the file describes no model")
        try:
            return Built(architectures.build(self.config), None)
        except CannotBuild as error:
            return Built(None, str(error), error.keys)
