"""Compare a ModelConfig with what transformers' config object holds."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from neurarch_schemas.catalogue.load import ConfigType, config_type, special_float
from neurarch_schemas.config.model_config import ModelConfig

DATA = Path(__file__).parents[1] / "data"
REAL_CONFIGS = Path(__file__).parents[3] / "shared" / "configs"

# Bookkeeping that says nothing about the model, and lists of label names.
IGNORED = frozenset(
    [
        "transformers_version",
        "model_type",
        "architectures",
        "_name_or_path",
        "id2label",
        "label2id",
        "dtype",
        "output_attentions",
        "return_dict",
        "output_hidden_states",
        "chunk_size_feed_forward",
        "problem_type",
        "use_return_dict",
    ]
)


def lines(name: str) -> Iterator[Any]:
    """The records of a compressed JSON-lines file under tests/data."""
    with lzma.open(DATA / name, "rt", encoding="utf-8") as stream:
        for line in stream:
            yield json.loads(line, object_hook=special_float)


def same(expected: object, found: object) -> bool:
    """Equal values; an integer may stand for a float, but not for a truth value."""
    if isinstance(expected, bool) != isinstance(found, bool):
        return False
    if isinstance(expected, float) and isinstance(found, int | float):
        return expected == found or abs(expected - found) <= 1e-9 * max(1.0, abs(expected))
    if isinstance(expected, dict) and isinstance(found, dict):
        return expected.keys() == found.keys() and all(same(expected[key], found[key]) for key in expected)
    if isinstance(expected, list) and isinstance(found, list):
        return len(expected) == len(found) and all(map(same, expected, found))
    return expected == found


def value(config: ModelConfig, key: str) -> object:
    setting = config.settings.get(key)
    return "missing" if setting is None else setting.value


def differences(
    config: ModelConfig, record: ConfigType, written: Mapping[str, Any], changed: Mapping[str, Any], path: str = ""
) -> Iterator[str]:
    """Where a resolved config is not: the declared defaults, overlaid by what is written, overlaid by ``changed``."""
    overlay = {record.synonyms.get(key, key): item for key, item in written.items() if key not in record.shadowed}
    for key, default in record.declared.items():
        if key in IGNORED or key in changed:
            continue
        if key in record.nested:
            if key in config.nested and not isinstance(overlay.get(key), dict):
                yield f"{path}{key}: nested config is there, expected {overlay.get(key)!r}"
        elif not same(overlay.get(key, default), value(config, key)):
            yield f"{path}{key}: {value(config, key)!r}, expected {overlay.get(key, default)!r}"
    for key, expected in changed.items():
        if key in IGNORED:
            continue
        if key in record.nested and isinstance(expected, dict):
            yield from nested_differences(config, key, overlay.get(key), expected, path)
        elif key == "per_layer_config" and isinstance(expected, dict):
            yield from layer_differences(config, expected, path)
        elif not same(expected, value(config, key)):
            yield f"{path}{key}: {value(config, key)!r}, expected {expected!r}"


def nested_differences(
    config: ModelConfig, key: str, written: object, expected: Mapping[str, Any], path: str
) -> Iterator[str]:
    nested = config.nested.get(key)
    if nested is None:
        yield f"{path}{key}: no nested config"
        return
    known = config_type(nested.model_type) or config_type(nested.config_class)
    if known is None or known.config_class != nested.config_class:
        known = config_type(nested.config_class)
    if known is None:
        yield f"{path}{key}: unknown type {nested.model_type!r}"
        return
    yield from differences(nested, known, written if isinstance(written, dict) else {}, expected, f"{path}{key}.")


def layer_differences(config: ModelConfig, expected: Mapping[str, Mapping[str, Any]], path: str) -> Iterator[str]:
    """``expected`` lists the layers in which keys differ from the common value."""
    for name in {name for changes in expected.values() for name in changes}:
        pattern = config.patterns.get(name)
        found = [] if pattern is None else list(pattern)
        common = config.get(name)
        wanted = [expected.get(str(index), {}).get(name, common) for index in range(len(found))]
        if found != wanted or any(int(index) >= len(found) for index in expected):
            yield f"{path}{name} of each layer: {found}, expected {wanted}"
