"""Settings that differ from layer to layer: ``per_layer_config``, a map of layer index to overriding values."""

from __future__ import annotations

from collections.abc import Collection

from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.layer_pattern import LayerPattern
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.config.periods import placed

Overrides = tuple[tuple[str, int | None], ...]
"""Pairs of key and value, hashable so that equal layers are built once."""


def is_written(config: ModelConfig, name: str) -> bool:
    """The file itself states ``name``, as against a default of the class."""
    setting = config.setting(name)
    return setting is not None and setting.origin == "written" and setting.value is not None


def per_layer_overrides(config: ModelConfig, allowed: Collection[str], length: int) -> LayerPattern[Overrides]:
    """What ``per_layer_config`` overrides in each layer.

    Raises CannotBuild for keys the family does not vary by layer (``allowed``) and for values that are not integers.
    """
    found: dict[int, Overrides] = {}
    for index, values in config.mapping("per_layer_config").items():
        if not index.isdecimal() or not isinstance(values, dict):
            raise CannotBuild("per_layer_config must map layer numbers to objects", ("per_layer_config",))
        pairs: list[tuple[str, int | None]] = []
        for key, value in values.items():
            if key not in allowed or not (value is None or (isinstance(value, int) and not isinstance(value, bool))):
                raise CannotBuild(f"per_layer_config sets {key} to {value!r}", ("per_layer_config",))
            pairs.append((key, value))
        found[int(index)] = tuple(sorted(pairs))
    return placed(found, length, ())
