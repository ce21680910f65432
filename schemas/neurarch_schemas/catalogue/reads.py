"""Which classes of a family's model code read a config key: recorded facts about transformers' sources."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from neurarch_schemas.catalogue.load import FILE_NAME, ConfigType, read_data


@cache
def family_reads(module: str) -> Mapping[str, tuple[str | None, tuple[str, ...]]]:
    """Class or function -> (config class it is built from, keys it reads); empty where nothing is recorded.

    ``_shared`` is the code common to all families: caches, masks, generic heads, weight tying.
    """
    if not FILE_NAME.fullmatch(module.lstrip("_")):
        return {}
    try:
        data: Mapping[str, tuple[str | None, list[str]]] = read_data(f"sources/{module}.json")
    except OSError:
        return {}
    return {name: (config, tuple(keys)) for name, (config, keys) in data.items()}


def classes_reading(record: ConfigType, name: str) -> tuple[str, ...]:
    """Classes that read a key of this type under any of its names.

    Classes built from another config class (the vision tower's) are left out.
    """
    canonical = record.canonical(name)
    names = {name, canonical, *(other for other, target in record.synonyms.items() if target == canonical)}
    return tuple(
        reader
        for reader, (config, keys) in family_reads(record.module).items()
        if (config is None or config == record.config_class) and not names.isdisjoint(keys)
    )


def is_read(record: ConfigType, name: str) -> bool | None:
    """Whether the config class, the family's code or the shared code reads a key; None where nothing is recorded."""
    if not family_reads(record.module):
        return None
    if record.canonical(name) in record.read_by_config or name in record.keywords or classes_reading(record, name):
        return True
    return any(name in keys for _, keys in family_reads("_shared").values())
