"""Near misses between names."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurarch_rules.engine.analyse import analyse_text
from neurarch_rules.engine.options import Options
from neurarch_rules.engine.run import run
from neurarch_rules.facts import spelling
from neurarch_rules.facts.spelling import closest, distance
from neurarch_rules.rules import misspelled_key


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


@given(
    st.text("abc", min_size=6, max_size=9), st.frozensets(st.text("abc", min_size=5, max_size=10)), st.integers(1, 2)
)
def test_closest_is_the_one_known_name_of_least_distance(name: str, known: frozenset[str], most: int) -> None:
    distances = {other: reference(name, other) for other in known if other != name}
    least = min(distances.values(), default=most + 1)
    nearest = [other for other, edits in distances.items() if edits == least]
    assert closest(name, known, most) == (nearest[0] if least <= most and len(nearest) == 1 else None)


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


@pytest.mark.parametrize(("name", "guess"), [("AutoModelForCasualLM", "AutoModelForCausalLM"), ("AutoSampler", None)])
def test_auto_classes_are_a_closed_list(name: str, guess: str | None) -> None:
    text = json.dumps({"model_type": "my_model", "auto_map": {name: "modeling_my.MyModel"}})
    analysis = analyse_text("config.json", text)
    assert analysis is not None
    found = run(analysis, Options(), rules=[misspelled_key]).findings
    assert [item.place.pointer for item in found] == ([f"/auto_map/{name}"] if guess else [])
    assert all(f"did you mean {guess}?" in item.message for item in found)


def test_near_names_are_kept_within_bounds() -> None:
    """What is typed has no end: long texts are not kept, and equal sets of names once."""
    names = [f"name_{number}" for number in range(50)]
    assert spelling._shared(frozenset(names)) is spelling._shared(frozenset(names))
    before = spelling._closest.cache_info().currsize
    assert spelling.closest("hidden_size" * 20, names) is None
    assert spelling._closest.cache_info().currsize == before
