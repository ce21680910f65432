"""Layer patterns from a period, an offset or a list of positions, without expanding to the number of layers."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import TypeVar

from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.layer_pattern import LayerPattern, PatternRun

T = TypeVar("T", bound=Hashable)

_LONGEST_PERIOD = 256
_MOST_RUNS = 4096


def constant(item: T, length: int) -> LayerPattern[T]:
    """``length`` equal layers."""
    return LayerPattern((PatternRun((item,), length),) if length > 0 else ())


def every(period: int, offset: int, length: int, chosen: T, other: T) -> LayerPattern[T]:
    """``chosen`` where ``index % period == offset``, else ``other``. Raises ZeroDivisionError for a period of 0."""
    whole, rest = divmod(length, period)
    if not 0 <= offset < period or length <= offset:
        return constant(other, length)
    if period <= _LONGEST_PERIOD:
        items = tuple(chosen if index == offset else other for index in range(period))
        runs = [PatternRun(items, whole)] if whole else []
        runs.extend(PatternRun((item,), 1) for item in items[:rest])
        return LayerPattern(tuple(runs))
    if whole > _MOST_RUNS:
        raise CannotBuild(f"a layer pattern with a period of {period} over {length} layers is too long to follow")
    return at(range(offset, length, period), length, chosen, other)


def at(positions: Iterable[int], length: int, chosen: T, other: T) -> LayerPattern[T]:
    """``chosen`` at each of ``positions`` (those outside the list are ignored), else ``other``."""
    return placed(dict.fromkeys(positions, chosen), length, other)


def placed(items: Mapping[int, T], length: int, other: T) -> LayerPattern[T]:
    """The items at their positions (those outside the list are ignored), ``other`` everywhere else."""
    runs: list[PatternRun[T]] = []
    start = 0
    for position in sorted(position for position in items if 0 <= position < length):
        if position > start:
            runs.append(PatternRun((other,), position - start))
        if runs and runs[-1].period == (items[position],):
            runs[-1] = PatternRun((items[position],), runs[-1].times + 1)
        else:
            runs.append(PatternRun((items[position],), 1))
        start = position + 1
    if length > start:
        runs.append(PatternRun((other,), length - start))
    return LayerPattern(tuple(runs))
