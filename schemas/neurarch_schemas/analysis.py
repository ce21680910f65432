"""Everything known about one file: computed lazily, once, and shared by rules, hovers and reports."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.elsewhere import Elsewhere, NotDone, here
from neurarch_schemas.record import Record, replace

if TYPE_CHECKING:
    from neurarch_schemas.accounting.adapter import Adapter
    from neurarch_schemas.accounting.checkpoint import Checkpoint
    from neurarch_schemas.accounting.checkpoint_match import CheckpointMatch
    from neurarch_schemas.accounting.flops import ForwardCost
    from neurarch_schemas.accounting.kv_cache import KVCache
    from neurarch_schemas.accounting.parameters import ParameterCount
    from neurarch_schemas.accounting.weights import Weights
    from neurarch_schemas.config.model_config import ModelConfig
    from neurarch_schemas.documents.document import FileKind
    from neurarch_schemas.documents.json_document import JsonDocument
    from neurarch_schemas.modules.tree import Module, Row, Visit
    from neurarch_schemas.surroundings.folder import Folder


class Built(Record):
    """The module tree, or why there is none."""

    tree: Module | None
    reason: str | None
    keys: tuple[str, ...] = ()
    """The config keys that stand in the way, canonical names."""
    caching: Module | None = None
    """Without a tree: the attention layers alone, where they are known."""


class Analysis(Record):
    """``config`` is None when the file is ours but holds no model (generation_config.json, adapter_config.json)."""

    document: JsonDocument
    kind: FileKind
    folder: Folder
    config: ModelConfig | None
    uncertain: str | None = None
    """Why the document may not say all of what runs, where its reader knows (a config in Python code)."""
    interpreting: Elsewhere = staticmethod(here)
    """Where Python code is interpreted, which may take seconds."""

    @cached_property
    def built(self) -> Built:
        from neurarch_schemas import architectures

        if self.config is None:
            return Built(None, "the file describes no model")
        try:
            return Built(architectures.build(self.config), None)
        except CannotBuild as error:
            return self._built_from_remote_code() or Built(None, str(error), error.keys, error.caching)

    @cached_property
    def doubt(self) -> str | None:
        """Why numbers derived from this file are not what loading it gives, None where there is no doubt.

        A file that is not valid JSON, or values that transformers refuses, give no model.
        """
        from neurarch_schemas.architectures.classes import absent_class
        from neurarch_schemas.config.check_types import check_types
        from neurarch_schemas.config.language_model import unread_language_model
        from neurarch_schemas.config.refusals import refusals

        if self.uncertain is not None:
            return self.uncertain
        broken = [problem for problem in self.document.problems if problem.rule == "json-syntax"]
        if broken:
            return f"the file is not valid JSON ({broken[0].message})"
        wrong = check_types(self.document.data)
        if wrong:
            return f"transformers 5.24 refuses a value: {wrong[0].message}"
        if self.config is None:
            return None
        other = absent_class(self.config) or unread_language_model(self.config)
        if other is not None:
            return other
        refused = next(refusals(self.config), None)
        if refused is not None:
            return f"transformers 5.24 refuses the model: {refused.message}"
        return None if self.config.is_derived else "what its config class derives from these values cannot be computed"

    def _built_from_remote_code(self) -> Built | None:
        """The tree of a model whose own code lies beside its config; None where there is none to read."""
        from neurarch_schemas.remote_code import interpret_remote
        from neurarch_schemas.surroundings.environment import installed_packages

        if self.config is None or self.config.is_native:
            return None
        try:
            found = interpret_remote(
                self.config, self.document.data, self.folder, installed_packages(), self.interpreting
            )
        except NotDone as error:
            return Built(None, f"its own code could not be followed: {error}")
        if found is None:
            return None
        if found.tree is not None and found.exact:
            return Built(found.tree, None)
        return Built(None, f"its own code could not be followed: {found.reason}")

    @cached_property
    def informed(self) -> Analysis:
        """For reports and hovers: where there is no architecture of ours, what an installed transformers builds.

        Reading its source may take seconds, so rules never ask for this. The same analysis where nothing is gained.
        """
        if self.built.tree is not None or self.config is None or self.kind != "config":
            return self
        built = self._built_from_library()
        if built is None:
            return self
        copy = replace(self)
        copy.__dict__["built"] = built  # what the cached property would hold
        return copy

    def _built_from_library(self) -> Built | None:
        """None where the class is not part of the transformers at hand, or its source could not be followed."""
        from neurarch_schemas.surroundings.environment import installed_packages

        data = self.document.data
        if self.config is None or not self.config.architecture or not isinstance(data, dict) or "auto_map" in data:
            return None
        from neurarch_schemas.library_code import for_report, models_folder

        paths = installed_packages()
        if models_folder(paths) is None:
            return None
        try:
            found = self.interpreting(for_report, self.config.architecture, data, paths)
        except NotDone:
            return None
        return Built(found.tree, None) if found is not None and found.exact else None

    @cached_property
    def visits(self) -> tuple[Visit, ...]:
        """Every distinct module of the tree; () where the tree is not known."""
        from neurarch_schemas.modules.tree import walk

        return () if self.built.tree is None else tuple(walk(self.built.tree))

    @cached_property
    def rows(self) -> tuple[Row, ...] | None:
        """The tensors, merged by name pattern; None where they are not known."""
        from neurarch_schemas.modules.tree import rows

        return None if self.built.tree is None else rows(self.built.tree)

    @cached_property
    def parameters(self) -> ParameterCount | None:
        from neurarch_schemas.accounting.parameters import count_visited

        return None if self.built.tree is None else count_visited(self.visits)

    @cached_property
    def kv_cache(self) -> KVCache | None:
        """What decoding keeps; None for networks that cache nothing and where the tree is not known."""
        from neurarch_schemas.accounting.kv_cache import caches_of, kv_cache

        if self.built.tree is not None:
            return caches_of(self.visits)
        return None if self.built.caching is None else kv_cache(self.built.caching)

    @cached_property
    def forward_cost(self) -> ForwardCost | None:
        """Operations of a forward pass; None where the tree is not known."""
        from neurarch_schemas.accounting.flops import forward_cost

        return None if self.built.tree is None else forward_cost(self.built.tree)

    @cached_property
    def weights(self) -> Weights | None:
        from neurarch_schemas.accounting.weights import weigh

        if self.config is None or self.parameters is None:
            return None
        return weigh(self.parameters.stored, self.config)

    @cached_property
    def checkpoint_match(self) -> CheckpointMatch | None:
        """The weight files held against the tree; None where there are none or the tree is not known."""
        from neurarch_schemas.accounting.checkpoint_match import match

        if self.built.tree is None or not self.folder.checkpoint:
            return None
        return match(self.built.tree, self.folder.checkpoint)

    @cached_property
    def checkpoint(self) -> Checkpoint | None:
        """What the weight files hold (read from them), or will hold by a quantization; None where nothing tells."""
        from neurarch_schemas.accounting.checkpoint import predicted_checkpoint, stored_checkpoint

        stored = None if self.folder.checkpoint is None else stored_checkpoint(self.folder.checkpoint)
        if stored is not None and self.checkpoint_match is not None:
            return replace(stored, mtp_parameters=self.checkpoint_match.mtp_scalars)
        if stored is not None or self.config is None or self.built.tree is None:
            return stored
        return predicted_checkpoint(self.built.tree, self.config)

    @cached_property
    def base(self) -> Analysis | None:
        """An adapter's base model, where its config lies in the snapshot of the folder."""
        import os

        from neurarch_schemas.config.read import read_config

        if self.kind != "adapter_config":
            return None
        names = [name for name in self.folder.json_files if os.path.basename(name) == "config.json"]
        for name in sorted(names, key=lambda name: (name == "config.json", name)):
            data = self.folder.json_files[name]
            if isinstance(data, dict) and data.get("model_type"):
                return Analysis(self.document, "config", self.folder, read_config(data), interpreting=self.interpreting)
        return None

    @cached_property
    def adapter(self) -> Adapter | None:
        """What an adapter_config.json trains; None for other files."""
        from neurarch_schemas.accounting.adapter import Adapter, count_adapter

        data = self.document.data
        if self.kind != "adapter_config" or not isinstance(data, dict):
            return None
        if self.base is None:
            return Adapter(None, 0, exact=False, reason="the base model is not at hand")
        if self.base.built.tree is None:
            return Adapter(None, 0, exact=False, reason=f"the base model: {self.base.built.reason}")
        return count_adapter(data, self.base.built.tree)

    def cache_dtype(self, chosen: str | None = None) -> str:
        """The torch dtype of the KV cache; ``chosen`` is the user's setting. Two bytes are assumed without any."""
        from neurarch_schemas.accounting.weights import cache_dtype

        return "bfloat16" if self.config is None else cache_dtype(self.config, chosen)
