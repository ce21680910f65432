"""Any size of a language model changes its tensors, active parameters or cache, or is listed as irrelevant.

irrelevant_sizes.json: key -> the types in which one more changes nothing (limits of training and generation, positions
that are computed, sizes that a type's lists override). A key that stops mattering by mistake is caught here.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from neurarch_schemas import architectures
from neurarch_schemas.accounting.kv_cache import kv_cache
from neurarch_schemas.accounting.parameters import count_parameters
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.read import read_config
from neurarch_schemas.modules.tree import rows

from .conftest import recorded

LISTED: dict[str, list[str]] = json.loads((Path(__file__).parent / "irrelevant_sizes.json").read_text(encoding="utf-8"))
RECORDS = [
    record
    for record in recorded("parameters")
    if record["variant"] == "tiny-a" and record["architecture"].endswith(("ForCausalLM", "LMHeadModel"))
]


def signature(config: dict[str, Any]) -> object:
    """Everything a size can change; the reason where the model cannot be built."""
    try:
        tree = architectures.build(read_config(config))
    except CannotBuild as error:
        return str(error)
    cache = kv_cache(tree)
    sizes = (cache.at(10_000), cache.constant) if cache is not None else None
    return rows(tree), count_parameters(tree).active, sizes


def irrelevant(record: dict[str, Any]) -> list[str]:
    config = record["config"]
    unchanged = signature(config)
    return [
        key
        for key, value in config.items()
        if isinstance(value, int)
        and not isinstance(value, bool)
        and value > 0
        and not key.endswith("_id")
        and signature({**config, key: value + 1}) == unchanged
    ]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: str(record["model_type"]))
def test_every_size_matters_or_is_listed(record: dict[str, Any]) -> None:
    model_type = record["model_type"]
    assert irrelevant(record) == [key for key in record["config"] if model_type in LISTED.get(key, ())]
