"""Whether weights lie beside a config."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from neurarch_schemas.surroundings.folder import Folder

ENDINGS = (".safetensors", ".bin", ".gguf", ".pt", ".pth", ".ckpt", ".h5", ".msgpack", ".index.json")


def has_weights(folder: Folder) -> bool:
    return any(name.endswith(ENDINGS) for name in folder.listing or ())


def is_repository(folder: Folder) -> bool:
    """Weights, an index or a tokenizer lie beside the config, so that other missing files are really missing."""
    names = folder.listing or ()
    return has_weights(folder) or any(name in names for name in ("tokenizer.json", "tokenizer.model", "vocab.json"))
