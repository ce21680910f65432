"""Folders read from the disk (or from texts) at the edge, each part when it is first asked for."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial

from neurarch_schemas.documents.json_value import JSONValue
from neurarch_schemas.surroundings.folder import CheckpointTensor, Folder
from neurarch_schemas.surroundings.folders_above import FoldersAbove
from neurarch_schemas.surroundings.requirement_files import candidates
from neurarch_schemas.surroundings.source import Disk, Source, Texts

RELATIVES = frozenset(
    (
        "config.json", "generation_config.json", "adapter_config.json", "tokenizer_config.json", "added_tokens.json",
        "special_tokens_map.json", "preprocessor_config.json", "processor_config.json", "params.json",
        "quantize_config.json", "quant_config.json", "hf_quant_config.json", "chat_template.json",
        "modules.json", "sentence_bert_config.json", "vocab.json",
    )
)  # fmt: skip
"""Small JSON files whose content rules may want."""
MAX_JSON_BYTES = 16_000_000
MAX_CODE_BYTES = 1_000_000
_BASE_FOLDERS = ("base", "base_model")
"""Where a copy of an adapter's base model is looked for, when its own path is not a folder."""
_MODULES = 16
"""How many entries of a modules.json are looked at."""
_STAMPED = (".json", ".safetensors", ".txt", ".toml", ".lock", ".in", ".model")


def read_folder(document_path: str, data: JSONValue = None, folders_above: FoldersAbove | None = None) -> Folder:
    """What lies beside the document at ``document_path``, which itself need not exist. Never raises.

    ``data`` is the document's value: an adapter names its base model there. Cheap until a part is asked for.
    ``folders_above`` is shared by the snapshots of one run; by default the folders above are looked at afresh.
    """
    folder = os.path.dirname(document_path)
    above = folders_above or FoldersAbove()
    return _SourceFolder(Disk(folder, above), os.path.abspath(folder) if folder else os.getcwd(), data, above)


def folder_of_texts(
    files: Mapping[str, str | bytes], listing: frozenset[str] | None = None, data: JSONValue = None
) -> Folder:
    """The folder that holds ``files``; names only in ``listing`` are empty files."""
    return _SourceFolder(Texts(files, listing), None, data, FoldersAbove())


class _Lazy(Mapping[str, JSONValue]):
    """JSON files by name, parsed when asked for."""

    def __init__(self, source: Source, names: tuple[str, ...]) -> None:
        self._source = source
        self._names = names
        self._known: dict[str, JSONValue] = {}

    def __getitem__(self, name: str) -> JSONValue:
        if name not in self._names:
            raise KeyError(name)
        if name not in self._known:
            self._known[name] = _json(self._source, name)
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class _Code(Mapping[str, str]):
    """The text of Python files by name, read when asked for and not kept; "" where it cannot be read."""

    def __init__(self, source: Source, names: frozenset[str]) -> None:
        self._source = source
        self._names = names

    def __getitem__(self, name: str) -> str:
        if name not in self._names:
            raise KeyError(name)
        if (self._source.size(name) or 0) > MAX_CODE_BYTES:
            return ""
        return (self._source.read(name, MAX_CODE_BYTES) or b"").decode("utf-8", "replace")

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class _LazyText(Mapping[str, str]):
    """A mapping that is read as a whole when it is first looked into."""

    def __init__(self, read: Callable[[], dict[str, str]]) -> None:
        self._read = read

    @cached_property
    def _known(self) -> dict[str, str]:
        return self._read()

    def __getitem__(self, name: str) -> str:
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


def _json(source: Source, name: str) -> JSONValue:
    """The value of a JSON file, as far as it can be read."""
    size = source.size(name)
    if size is None or size > MAX_JSON_BYTES:
        return None
    data = source.read(name, MAX_JSON_BYTES)
    if not data:
        return None
    from neurarch_schemas.documents.json_document import JsonDocument

    return JsonDocument.parse(data.decode("utf-8", "replace"), name).data


class _SourceFolder(Folder):
    def __init__(self, source: Source, path: str | None, data: JSONValue, above: FoldersAbove) -> None:
        names = source.names()
        self.path = path
        self.listing = names
        self.json_files = _Lazy(source, tuple(sorted(RELATIVES & (names or frozenset()))) + _base_configs(source, data))
        self.code = _Code(source, _code_names(names or frozenset()))
        self.requirements = _LazyText(partial(_requirements, source, names or frozenset(), above))
        self._source = source

    @cached_property
    def key(self) -> str:
        known = self.listing or frozenset()
        stamped = {name for name in known if name.endswith(_STAMPED)}
        stamped |= set(self.code)
        names = dict.fromkeys((*sorted(stamped), *self.json_files, *self.modules, *candidates(self._source, known)))
        stamps = [f"{name}={self._source.stamp(name)}" for name in names]
        return "|".join((self.path or "", *sorted(known - stamped), *stamps))

    @cached_property
    def modules(self) -> Mapping[str, JSONValue]:
        return _Lazy(self._source, _module_configs(self._source, self.json_files.get("modules.json")))

    @cached_property
    def tokenizer_entries(self) -> int | None:
        from neurarch_schemas.surroundings.tokenizer import read_entries

        return read_entries(self._source) if "tokenizer.json" in (self.listing or ()) else None

    @cached_property
    def checkpoint(self) -> tuple[CheckpointTensor, ...] | None:
        if not any(name.endswith((".safetensors", ".index.json")) for name in self.listing or ()):
            return None
        from neurarch_schemas.surroundings.safetensors import read_checkpoint

        return read_checkpoint(self._source, self.listing or frozenset())


def _code_names(names: frozenset[str]) -> frozenset[str]:
    """Python files that may be the code of a model: only those beside a config."""
    if not any(name.endswith("config.json") for name in names):
        return frozenset()
    return frozenset(name for name in names if name.endswith(".py"))


def _module_configs(source: Source, modules: JSONValue) -> tuple[str, ...]:
    """The configs of the folders that modules.json lists, where they exist; only folders below its own."""
    paths = [module.get("path") for module in modules if isinstance(module, dict)] if isinstance(modules, list) else []
    names = [
        f"{path}/config.json"
        for path in paths[:_MODULES]
        if isinstance(path, str) and path and not {"", ".", ".."} & set(path.split("/")) and "\x00" not in path
    ]
    return tuple(name for name in dict.fromkeys(names) if source.stamp(name) is not None)


def _base_configs(source: Source, data: JSONValue) -> tuple[str, ...]:
    """The config.json of an adapter's base model, where that is a folder on this machine."""
    named = data.get("base_model_name_or_path") if isinstance(data, dict) else None
    folders = [named] if isinstance(named, str) and named and "\x00" not in named else []
    if isinstance(data, dict) and "peft_type" in data:
        folders += _BASE_FOLDERS
    for folder in folders:
        name = folder.replace("\\", "/").rstrip("/") + "/config.json"
        if source.stamp(name) is not None:
            return (name.removeprefix("./"),)
    return ()


def _requirements(source: Source, names: frozenset[str], above: FoldersAbove) -> dict[str, str]:
    from neurarch_schemas.surroundings.requirements import read_requirements

    return read_requirements(source, candidates(source, names), above.stated)
