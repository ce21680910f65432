"""The cheapest assignment, against trying every one."""

from __future__ import annotations

from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from neurarch_schemas.modules.assignment import least_cost_columns


@st.composite
def matrices(draw: st.DrawFn) -> list[list[int]]:
    rows = draw(st.integers(1, 4))
    columns = draw(st.integers(rows, 5))
    return draw(st.lists(st.lists(st.integers(0, 9), min_size=columns, max_size=columns), min_size=rows, max_size=rows))


@given(matrices())
def test_no_assignment_is_cheaper(costs: list[list[int]]) -> None:
    chosen = least_cost_columns(costs)
    assert len(set(chosen)) == len(costs)
    cheapest = min(
        sum(costs[row][column] for row, column in enumerate(columns))
        for columns in permutations(range(len(costs[0])), len(costs))
    )
    assert sum(costs[row][column] for row, column in enumerate(chosen)) == cheapest


def test_nothing_to_assign() -> None:
    assert least_cost_columns([]) == []
