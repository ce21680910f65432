"""What lies beside a document: an immutable snapshot, so that rules stay pure and caches have a key."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from neurarch_schemas.documents.json_value import JSONValue
from neurarch_schemas.record import Record


class CheckpointTensor(Record):
    name: str
    shape: tuple[int, ...] | None
    """None when only an index (names, no shapes) is at hand."""
    dtype: str | None


class Folder:
    """``listing`` are the relative names of the files beside the document (None: unknown, e.g. stdin).

    ``json_files`` holds the parsed relatives by name (generation_config.json, tokenizer_config.json,
    adapter_config.json, added_tokens.json, special_tokens_map.json, the base model's config.json ...),
    ``code`` the text of the Python files beside a config by name, ``modules`` what a sentence-transformers model runs
    after its encoder: the configs of the folders that modules.json lists (1_Pooling/config.json ...), in order.
    ``tokenizer_entries`` is the number of tokens of tokenizer.json (highest id + 1), ``checkpoint`` the tensors named
    by an index or by safetensors headers, ``requirements`` the versions stated by requirements.txt, pyproject.toml or
    a lock file; ``key`` changes whenever any of them may have changed (names, sizes, modification times): who keeps a
    snapshot asks for it before any part is read.
    This one knows nothing; ``read.read_folder`` and ``read.folder_of_texts`` give folders whose parts are read when
    asked for. Never written to.
    """

    path: str | None = None
    listing: frozenset[str] | None = None
    json_files: Mapping[str, JSONValue] = {}
    code: Mapping[str, str] = {}
    requirements: Mapping[str, str] = {}

    @cached_property
    def key(self) -> str:
        return ""

    @cached_property
    def modules(self) -> Mapping[str, JSONValue]:
        return {}

    @cached_property
    def tokenizer_entries(self) -> int | None:
        return None

    @cached_property
    def checkpoint(self) -> tuple[CheckpointTensor, ...] | None:
        return None

    @classmethod
    def of_mapping(cls, files: Mapping[str, str | bytes], listing: frozenset[str] | None = None) -> Folder:
        """The folder that holds these files, by name; names only in ``listing`` are empty files."""
        from neurarch_schemas.surroundings.read import folder_of_texts

        return folder_of_texts(files, listing)
