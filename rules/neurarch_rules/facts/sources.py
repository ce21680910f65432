"""Which classes of a family read a key, from the catalogue's record of the model code."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from neurarch_schemas.catalogue import load
from neurarch_schemas.catalogue.reads import family_reads

if TYPE_CHECKING:
    from neurarch_schemas.catalogue.load import ConfigType
    from neurarch_schemas.config.model_config import ModelConfig


def config_type(config: ModelConfig) -> ConfigType | None:
    """The catalogue's entry for a native config."""
    return load.config_type(config.model_type) if config.is_native else None


def records(config: ModelConfig) -> tuple[ConfigType, ...]:
    """The types whose keys stand in a config's object: its own, and those of a family's text model kept flat in it."""
    flat = (nested for nested in config.nested.values() if nested.pointer == config.pointer)
    return tuple(record for owner in (config, *flat) if (record := config_type(owner)) is not None)


def reads(config: ModelConfig, key: str) -> bool:
    """Whether the class of a native config reads a key at this level; True where that is not known."""
    found = records(config)
    return not found or any(record.knows(key) for record in found)


@cache
def _readers(module: str) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for name, (_, keys) in family_reads(module).items():
        for key in keys:
            found.setdefault(key, []).append(name)
    return {key: tuple(names) for key, names in found.items()}


def keys_of_model_code(record: ConfigType) -> frozenset[str]:
    """Keys that the model classes read, declared or not: ``getattr(config, "head_dim", None)``."""
    return frozenset(_readers(record.module))


def readers(config: ModelConfig, name: str) -> tuple[str, ...] | None:
    """Model classes of the family that read the key under any of its names; None where the family is not recorded."""
    record = config_type(config)
    if record is None:
        return None
    known = _readers(record.module)
    if not known:
        return None
    canonical = record.canonical(name)
    names = {name, canonical, *(other for other, target in record.synonyms.items() if target == canonical)}
    return tuple(dict.fromkeys(reader for key in names for reader in known.get(key, ())))
