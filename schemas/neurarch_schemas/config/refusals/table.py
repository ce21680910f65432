"""Which model types have conditions on their values, read without what evaluates them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache


@cache
def constraints() -> Mapping[str, tuple[tuple[str, str | None], ...]]:
    """model type -> its conditions, each with the rule that finds the same."""
    import json

    with open(os.path.join(os.path.dirname(__file__), "constraints.json"), encoding="utf-8") as stream:
        data = json.load(stream)
    found: dict[str, tuple[tuple[str, str | None], ...]] = {}
    for entry in data["constraints"]:
        conditions = tuple((condition, entry.get("told_by")) for condition in entry["hold"])
        for model_type in entry["types"]:
            found[model_type] = (*found.get(model_type, ()), *conditions)
    return found
