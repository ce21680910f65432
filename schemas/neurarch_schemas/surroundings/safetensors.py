"""Names, shapes and dtypes of a checkpoint, from its index and the headers of its files; no tensor is read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from neurarch_schemas.surroundings.folder import CheckpointTensor
from neurarch_schemas.surroundings.source import Source

MAX_HEADER_BYTES = 100_000_000
"""The format's own limit for the header of one file."""
MAX_INDEX_BYTES = 64_000_000
_MAX_ALL_HEADERS = 200_000_000
_MAX_RANK = 16
INDEXES = ("model.safetensors.index.json", "pytorch_model.bin.index.json")
_SHARD = re.compile(r"model-\d+-of-\d+\.safetensors")


def read_checkpoint(source: Source, names: frozenset[str]) -> tuple[CheckpointTensor, ...] | None:
    """The tensors of the checkpoint beside a document; None where there is none, or none that can be read.

    With an index the tensors are those it names, with shapes where their file is at hand.
    """
    for index in INDEXES:
        if index in names and (weight_map := _weight_map(source, index)) is not None:
            shards = sorted({shard for shard in weight_map.values() if shard in names and _is_safetensors(shard)})
            headers = _headers(source, shards)
            return tuple(headers.get(name) or CheckpointTensor(name, None, None) for name in weight_map)
    files = _files_of_model(names)
    headers = _headers(source, files)
    return tuple(headers.values()) if headers else None


def _is_safetensors(name: str) -> bool:
    return name.endswith(".safetensors") and "/" not in name and "\\" not in name


def _files_of_model(names: frozenset[str]) -> list[str]:
    """The files that together are the model: some repositories hold it twice, under two names."""
    if "model.safetensors" in names:
        return ["model.safetensors"]
    shards = sorted(name for name in names if _SHARD.fullmatch(name))
    if shards:
        return shards
    others = sorted(name for name in names if _is_safetensors(name))
    consolidated = [name for name in others if name.startswith("consolidated")]
    return consolidated or others


def _weight_map(source: Source, index: str) -> dict[str, str] | None:
    size = source.size(index)
    if size is None or size > MAX_INDEX_BYTES:
        return None
    data = _json_object(source.read(index, MAX_INDEX_BYTES))
    weight_map = data.get("weight_map") if data is not None else None
    if not isinstance(weight_map, dict) or not weight_map:
        return None
    return {name: shard for name, shard in weight_map.items() if isinstance(shard, str)}


def _headers(source: Source, files: Iterable[str]) -> dict[str, CheckpointTensor]:
    found: dict[str, CheckpointTensor] = {}
    left = _MAX_ALL_HEADERS
    for file in files:
        header = read_header(source, file, min(left, MAX_HEADER_BYTES))
        if header is not None:
            size, tensors = header
            left -= size
            found.update((tensor.name, tensor) for tensor in tensors)
    return found


def read_header(source: Source, file: str, limit: int = MAX_HEADER_BYTES) -> tuple[int, list[CheckpointTensor]] | None:
    """Length and tensors of the header of one file; None for a file that is not safetensors.

    A length beyond the file's own size, or ``limit``, is not believed.
    """
    size = source.size(file)
    prefix = source.read(file, 8)
    if size is None or prefix is None or len(prefix) < 8:
        return None
    length = int.from_bytes(prefix, "little")
    if not 2 <= length <= min(limit, size - 8):
        return None
    data = _json_object(source.read(file, length, 8))
    if data is None:
        return None
    tensors = []
    for name, entry in data.items():
        if name == "__metadata__":
            continue
        tensor = _tensor(name, entry)
        if tensor is None:
            return None
        tensors.append(tensor)
    return length, tensors


def _tensor(name: str, entry: object) -> CheckpointTensor | None:
    if not isinstance(entry, dict):
        return None
    shape, dtype = entry.get("shape"), entry.get("dtype")
    if not isinstance(shape, list) or len(shape) > _MAX_RANK or not isinstance(dtype, str):
        return None
    if not all(type(length) is int and 0 <= length < 2**63 for length in shape):
        return None
    return CheckpointTensor(name, tuple(shape), dtype)


def _json_object(data: bytes | None) -> dict[str, object] | None:
    if data is None:
        return None
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
