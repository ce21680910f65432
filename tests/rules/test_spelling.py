"""Near misses between names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurarch_rules.facts.spelling import closest, distance


def reference(first: str, second: str) -> int:
    """Optimal string alignment distance by its recursion."""
    table = [
        [max(row, column) if not (row and column) else 0 for column in range(len(second) + 1)]
        for row in range(len(first) + 1)
    ]
    for row in range(1, len(first) + 1):
        for column in range(1, len(second) + 1):
            table[row][column] = min(
                table[row - 1][column] + 1,
                table[row][column - 1] + 1,
                table[row - 1][column - 1] + (first[row - 1] != second[column - 1]),
            )
            if row > 1 and column > 1 and first[row - 1] == second[column - 2] and first[row - 2] == second[column - 1]:
                table[row][column] = min(table[row][column], table[row - 2][column - 2] + 1)
    return table[-1][-1]


@given(st.text("abc", max_size=9), st.text("abc", max_size=9), st.integers(1, 3))
def test_distance_is_the_alignment_distance_up_to_the_limit(first: str, second: str, most: int) -> None:
    assert min(distance(first, second, most), most + 1) == min(reference(first, second), most + 1)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("hidden_szie", "hidden_size"),
        ("hiden_sizes", "hidden_size"),
        ("hidden_size", None),
        ("hidden", None),
        ("head_dim_", "head_dim"),
        ("bits", None),
        ("bist", "bits"),
        ("abc", None),
    ],
)
def test_closest(name: str, expected: str | None) -> None:
    assert closest(name, ("hidden_size", "hidden_act", "head_dim", "bits")) == expected


def test_two_equally_close_names_give_none() -> None:
    assert closest("num_head", ("num_heads", "num_headx")) is None
