"""Published configs give exactly the tensors transformers builds from them (the files are not in the repository)."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from neurarch_schemas import architectures
from neurarch_schemas.config.read import read_config
from neurarch_schemas.modules.tree import rows

CONFIGS = Path(__file__).parents[3] / "shared" / "configs"
TRUTH = CONFIGS / "TRUTH.jsonl"

pytestmark = pytest.mark.skipif(
    not TRUTH.is_file(), reason="the published configs lie beside the repository or nowhere"
)


def truth() -> list[dict[str, Any]]:
    if not TRUTH.is_file():
        return []
    return [json.loads(line) for line in TRUTH.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("record", truth(), ids=lambda record: record["file"])
def test_tensors_of_published_configs(record: dict[str, Any]) -> None:
    if record["model_type"] not in architectures.families():
        pytest.skip(f"{record['model_type']} is refused")
    config = read_config(json.loads((CONFIGS / record["file"]).read_text(encoding="utf-8")))
    if config.architecture == "StableDiffusionSafetyChecker":
        pytest.skip("a class of diffusers, recorded as another class of transformers")
    expected: Counter[tuple[str, tuple[int, ...], str]] = Counter()
    for name, shape, kind, count in record["tensors"]:
        expected[(name, tuple(shape), kind)] += count
    found = Counter({(row.name, row.shape, str(row.kind)): row.count for row in rows(architectures.build(config))})
    assert found == expected
