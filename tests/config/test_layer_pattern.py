"""A pattern behaves as the list it stands for, at a cost that does not depend on its length."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurarch_schemas.config.layer_pattern import LayerPattern

LISTS = st.lists(st.sampled_from("abc"), max_size=30) | st.builds(
    lambda period, times: period * times, st.lists(st.sampled_from("ab"), min_size=1, max_size=5), st.integers(1, 8)
)


@given(LISTS, st.integers(0, 40))
def test_like_a_list(items: list[str], cut: int) -> None:
    pattern = LayerPattern.of(items)
    assert list(pattern) == items
    assert len(pattern) == pattern.length == len(items)
    assert list(pattern.head(cut)) == items[:cut]
    assert list(pattern.tail(cut)) == items[cut:]
    assert list(pattern.map(str.upper)) == [item.upper() for item in items]
    assert sum(pattern.counts().values()) == len(items)
    assert [pattern[index] for index in range(len(items))] == items
    if items:
        place = cut % len(items)
        assert list(pattern.with_item(place, "z")) == [*items[:place], "z", *items[place + 1 :]]


@given(LISTS, LISTS)
def test_zip(left: list[str], right: list[str]) -> None:
    zipped = LayerPattern.of(left).zip(LayerPattern.of(right))
    assert list(zipped) == list(zip(left, right, strict=False))


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=6), st.integers(0, 40))
def test_periodic(period: list[str], length: int) -> None:
    assert list(LayerPattern.periodic(period, length)) == [period[index % len(period)] for index in range(length)]


def test_written_patterns_are_folded() -> None:
    pattern = LayerPattern.of([*("sssssf" * 10), "s", "s"])
    assert [(run.period, run.times) for run in pattern.runs] == [(tuple("sssssf"), 10), (("s",), 2)]


def test_beyond_a_machine_word() -> None:
    pattern = LayerPattern.periodic("ab", 10**30)
    assert pattern.length == 10**30
    assert pattern.counts() == {"a": 5 * 10**29, "b": 5 * 10**29}
    assert pattern.zip(LayerPattern.constant(1, 10**29)).length == 10**29


@pytest.mark.parametrize(
    ("places", "length"),
    [([], 3), ([0], 1), ([3, 1, 3, 99, -1], 5), ([3, 7, 11, 15, 19, 22], 23), (range(0, 90, 3), 93), ([500], 600)],
)
def test_marked_places_are_those_of_the_list(places: Sequence[int], length: int) -> None:
    assert list(LayerPattern.where(places, length)) == [index in places for index in range(length)]


def test_marked_places_cost_what_is_written_not_what_it_counts_to() -> None:
    found = LayerPattern.where([5, 10**12], 10**13)
    assert found.length == 10**13
    assert len(found.runs) == 5
    assert len(LayerPattern.where(range(3, 4000, 4), 4000).runs) == 1
