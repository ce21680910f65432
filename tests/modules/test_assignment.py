"""The cheapest assignment, against trying every one."""

from __future__ import annotations

import random
from itertools import permutations

import pytest

from neurarch_schemas.modules.assignment import least_cost_columns


@pytest.mark.parametrize("seed", range(200))
def test_no_assignment_is_cheaper(seed: int) -> None:
    chance = random.Random(seed)
    rows = chance.randint(1, 4)
    columns = chance.randint(rows, 5)
    costs = [[chance.randint(0, 9) for _ in range(columns)] for _ in range(rows)]
    chosen = least_cost_columns(costs)
    assert len(set(chosen)) == rows
    cheapest = min(
        sum(costs[row][column] for row, column in enumerate(picked)) for picked in permutations(range(columns), rows)
    )
    assert sum(costs[row][column] for row, column in enumerate(chosen)) == cheapest


def test_nothing_to_assign() -> None:
    assert least_cost_columns([]) == []
