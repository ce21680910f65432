"""Whatever a config holds, building a tree gives one or says why not; it never crashes."""

from __future__ import annotations

import random
from typing import Any

import pytest

from neurarch_schemas import architectures
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.read import read_config
from neurarch_schemas.modules.tree import rows

from .conftest import recorded

VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, -7, 3, 10**9, 10**30, 2.5, float("nan"), float("inf"), 1e300),
    *("x", "", "128", [], [1, 2], ["full_attention"], [None], [[1]], {}, {"a": 1}, ["a", 3]),
)
TRIES = 6


def damaged(written: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    """A copy with one to three values replaced, also within nested configs."""
    copy = {key: dict(value) if isinstance(value, dict) else value for key, value in written.items()}
    places = [(copy, key) for key in copy if key not in ("model_type", "architectures")]
    for value in list(copy.values()):
        if isinstance(value, dict):
            places += [(value, key) for key in value if key != "model_type"]
    for holder, key in chance.sample(places, chance.randint(1, 3)):
        holder[key] = chance.choice(VALUES)
    return copy


@pytest.mark.parametrize(
    "record",
    [record for record in recorded("parameters") if record["variant"] == "tiny-a"],
    ids=lambda record: record["model_type"],
)
def test_damaged_values_never_crash(record: dict[str, Any]) -> None:
    for attempt in range(TRIES):
        chance = random.Random(f"{record['model_type']}{attempt}")
        written = damaged(record["config"], chance)
        try:
            tree = architectures.build(read_config(written))
        except CannotBuild:
            continue
        assert all(size >= 0 for row in rows(tree) for size in row.shape), written
