"""One value of a recorded config changed: what transformers 5.24 refuses is not called exact, what it builds is right.

``tools/record_changes.py`` recorded what its classes really do.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from neurarch_rules.engine.analyse import analyse_text
from neurarch_schemas.analysis import Analysis

from .conftest import recorded

SMALL = {record["model_type"]: record["config"] for record in recorded("parameters") if record["variant"] != "default"}
CHANGES = recorded("changes")
REFUSED_ON_LOADING = [change for change in CHANGES if change.get("error", "").startswith("config")]
REFUSED_ON_BUILDING = [change for change in CHANGES if change.get("error", "").startswith("model")]
BUILT = [change for change in CHANGES if change["built"] is not None]
MISSED_ON_LOADING = 0.01
MISSED_ON_BUILDING = 0.1
"""Shares that are called exact all the same: mostly sizes of 0 and ids beyond a vocabulary of one row."""


def analysed(change: dict[str, Any]) -> Analysis:
    config = json.loads(json.dumps(SMALL[change["model_type"]]))
    owner = config
    for key in change["path"][:-1]:
        owner = owner[key]
    owner[change["path"][-1]] = change["value"]
    found = analyse_text("/absent/config.json", json.dumps(config))
    assert found is not None
    return found


def is_exact(analysis: Analysis) -> bool:
    return analysis.built.tree is not None and analysis.doubt is None


@pytest.mark.parametrize(
    ("changes", "missed"),
    [(REFUSED_ON_LOADING, MISSED_ON_LOADING), (REFUSED_ON_BUILDING, MISSED_ON_BUILDING)],
    ids=["loading", "building"],
)
def test_what_is_refused_is_not_exact(changes: list[dict[str, Any]], missed: float) -> None:
    exact = [change for change in changes if is_exact(analysed(change))]
    assert len(exact) <= missed * len(changes), exact


def test_what_is_built_is_counted() -> None:
    exact, doubted = 0, []
    for change in BUILT:
        analysis = analysed(change)
        if not is_exact(analysis):
            doubted.append((change, analysis.doubt or analysis.built.reason))
            continue
        exact += 1
        assert analysis.parameters is not None
        counted = [analysis.parameters.total, analysis.parameters.buffers]
        assert counted == change["built"], change
    assert len(doubted) < 0.05 * exact, doubted
