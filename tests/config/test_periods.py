"""Patterns from periods and positions equal the lists they stand for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.periods import at, every, placed


@given(st.integers(1, 400), st.integers(0, 400), st.integers(0, 900))
def test_every(period: int, offset: int, length: int) -> None:
    expected = ["x" if offset < period and index % period == offset else "." for index in range(length)]
    assert list(every(period, offset, length, "x", ".")) == expected


@given(st.lists(st.integers(-3, 30)), st.integers(0, 20))
def test_at_ignores_positions_outside(positions: list[int], length: int) -> None:
    expected = ["x" if index in positions else "." for index in range(length)]
    assert list(at(positions, length, "x", ".")) == expected


@given(st.dictionaries(st.integers(-3, 30), st.sampled_from("ab")), st.integers(0, 20))
def test_placed(items: dict[int, str], length: int) -> None:
    assert list(placed(items, length, ".")) == [items.get(index, ".") for index in range(length)]


def test_a_billion_layers_are_a_few_runs() -> None:
    pattern = every(6, 5, 10**9, True, False)
    assert len(pattern.runs) < 8
    assert pattern.counts()[True] == 10**9 // 6


def test_too_long_a_period_over_too_many_layers_is_refused() -> None:
    with pytest.raises(CannotBuild, match="too long to follow"):
        every(1000, 3, 10**9, True, False)
