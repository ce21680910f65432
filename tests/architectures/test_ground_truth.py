"""Every covered type gives exactly the recorded tensors; every other type is refused with a reason."""

from __future__ import annotations

from typing import Any

import pytest

from neurarch_schemas import architectures
from neurarch_schemas.accounting.kv_cache import kv_cache
from neurarch_schemas.accounting.parameters import count_parameters
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.read import read_config

from .conftest import expected_tensors, recorded, tensors

RECORDS = recorded("parameters")
CACHES = recorded("kv_cache")


def label(record: dict[str, Any]) -> str:
    return f"{record['model_type']}-{record['variant']}"


def written_configs(record: dict[str, Any]) -> list[dict[str, Any]]:
    """The recorded config, and for defaults also a config.json that says nothing but the type and the class."""
    bare = {"model_type": record["model_type"], "architectures": [record["architecture"]]}
    return [record["config"], bare] if record["variant"] == "default" else [record["config"]]


@pytest.mark.parametrize("record", RECORDS, ids=label)
def test_tensors(record: dict[str, Any]) -> None:
    expected = expected_tensors(record)
    for written in written_configs(record):
        if record["model_type"] not in architectures.families():
            with pytest.raises(CannotBuild, match="not known"):
                architectures.build(read_config(written))
            continue
        tree = architectures.build(read_config(written))
        assert tensors(tree) == expected
        counted = count_parameters(tree)
        assert (counted.total, counted.buffers) == (record["parameters"], record["buffers"])


@pytest.mark.parametrize(
    "record", [record for record in CACHES if record["model_type"] in architectures.families()], ids=label
)
def test_cache_is_what_transformers_holds(record: dict[str, Any]) -> None:
    cache = kv_cache(architectures.build(read_config(record["config"])))
    assert cache is not None
    assert [cache.transformers_at(length) for length in record["lengths"]] == record["scalars"]
