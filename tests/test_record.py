"""Records behave as frozen dataclasses do."""

from __future__ import annotations

import pickle
from functools import cached_property

import pytest

from neurarch_schemas.record import Record, replace


class Point(Record):
    x: int
    y: int = 0

    @cached_property
    def distance(self) -> int:
        return abs(self.x) + abs(self.y)


class Named(Point):
    name: str = ""


def test_fields_come_by_position_and_by_name_with_defaults() -> None:
    assert Point(1) == Point(x=1) == Point(1, y=0)
    assert Named(1, 2, "a") == Named(name="a", y=2, x=1)
    assert repr(Named(1, name="a")) == "Named(x=1, y=0, name='a')"


@pytest.mark.parametrize(
    ("values", "named"), [((), {}), ((1, 2, 3), {}), ((1,), {"x": 1}), ((1,), {"z": 1}), ((), {"z": 1})]
)
def test_wrong_fields_are_refused(values: tuple[int, ...], named: dict[str, int]) -> None:
    with pytest.raises(TypeError, match="Point"):
        Point(*values, **named)


def test_equal_records_are_one_key_and_classes_differ() -> None:
    assert len({Point(1), Point(1, 0), Named(1)}) == 2
    assert Point(1) != Named(1)


def test_records_are_not_written_to() -> None:
    point = Point(1)
    with pytest.raises(AttributeError):
        point.x = 2  # type: ignore[misc]  # what is tested
    with pytest.raises(AttributeError):
        del point.x
    assert point.x == 1


def test_replace_leaves_the_original_and_what_it_computed() -> None:
    point = Named(3, 4, "a")
    assert point.distance == 7
    moved = replace(point, y=0)
    assert (moved, moved.distance, point.distance) == (Named(3, 0, "a"), 3, 7)
    with pytest.raises(TypeError):
        replace(point, z=1)


def test_records_can_be_sent_to_another_process() -> None:
    assert pickle.loads(pickle.dumps(Point(1, 2))) == Point(1, 2)
