"""A per-layer list as a run-length list, so that a billion layers cost what their distinct kinds cost."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from math import lcm
from typing import Generic, TypeVar

from neurarch_schemas.record import Record

T = TypeVar("T", bound=Hashable)
U = TypeVar("U", bound=Hashable)


LONGEST_PERIOD = 16
"""Layers after which a repeating pattern must begin again to be recognised in a written list."""


class PatternRun(Record, Generic[T]):
    """``period`` repeated ``times`` times."""

    period: tuple[T, ...]
    times: int

    @property
    def length(self) -> int:
        return len(self.period) * self.times


class LayerPattern(Record, Generic[T]):
    runs: tuple[PatternRun[T], ...]

    @staticmethod
    def of(items: Iterable[T]) -> LayerPattern[T]:
        """An explicit list; equal neighbours and short repeating periods are folded, the longest stretch first."""
        rest = tuple(items)
        runs: list[PatternRun[T]] = []
        start = 0
        while start < len(rest):
            best = PatternRun((rest[start],), 1)
            for length in range(1, min(LONGEST_PERIOD, len(rest) - start) + 1):
                times = _repetitions(rest, start, length)
                if (times > 1 or length == 1) and times * length > best.length:
                    best = PatternRun(rest[start : start + length], times)
            runs.append(best)
            start += best.length
        return LayerPattern(tuple(runs))

    @staticmethod
    def periodic(period: Sequence[T], length: int) -> LayerPattern[T]:
        """``period`` repeated and cut to ``length`` items."""
        if not period or length <= 0:
            return LayerPattern(())
        if len(set(period)) == 1:
            return LayerPattern((PatternRun((period[0],), length),))
        whole, rest = divmod(length, len(period))
        runs = (PatternRun(tuple(period), whole),) if whole else ()
        return LayerPattern((*runs, *LayerPattern.of(period[:rest]).runs))

    @staticmethod
    def constant(item: T, length: int) -> LayerPattern[T]:
        return LayerPattern.periodic((item,), length)

    @staticmethod
    def where(places: Collection[int], length: int) -> LayerPattern[bool]:
        """True at these places, else False; repeating periods are folded where the places lie close together."""
        marked = sorted({place for place in places if 0 <= place < length})
        last = marked[-1] + 1 if marked else 0
        if last <= LONGEST_PERIOD * (len(marked) + 1):
            known = frozenset(marked)
            return LayerPattern.of([place in known for place in range(last)]) + LayerPattern.constant(
                False, length - last
            )
        runs: list[PatternRun[bool]] = []
        for before, place in zip([-1, *marked], marked, strict=False):
            runs += LayerPattern.constant(False, place - before - 1).runs
            runs.append(PatternRun((True,), 1))
        return LayerPattern((*runs, *LayerPattern.constant(False, length - last).runs))

    @property
    def length(self) -> int:
        """As ``len``, which stops at the size of a machine word."""
        return sum(run.length for run in self.runs)

    def __len__(self) -> int:
        return self.length

    def __contains__(self, item: object) -> bool:
        return any(item in run.period for run in self.runs)

    def __getitem__(self, index: int) -> T:
        for run in self.runs:
            if index < run.length:
                return run.period[index % len(run.period)]
            index -= run.length
        raise IndexError(index)

    def __iter__(self) -> Iterator[T]:
        """Every item in order: as long as the list, so only for lists written out in a file."""
        for run in self.runs:
            for _ in range(run.times):
                yield from run.period

    def __add__(self, other: LayerPattern[T]) -> LayerPattern[T]:
        return LayerPattern(self.runs + other.runs)

    def counts(self) -> dict[T, int]:
        """How often each distinct item occurs, in order of first appearance."""
        found: dict[T, int] = {}
        for run in self.runs:
            for item in run.period:
                found[item] = found.get(item, 0) + run.times
        return found

    def map(self, function: Callable[[T], U]) -> LayerPattern[U]:
        return LayerPattern(tuple(PatternRun(tuple(map(function, run.period)), run.times) for run in self.runs))

    def head(self, length: int) -> LayerPattern[T]:
        """The first ``length`` items."""
        kept: list[PatternRun[T]] = []
        for run in self.runs:
            if length <= 0:
                break
            whole, rest = divmod(min(run.length, length), len(run.period))
            if whole:
                kept.append(PatternRun(run.period, whole))
            if rest:
                kept.extend(LayerPattern.of(run.period[:rest]).runs)
            length -= run.length
        return LayerPattern(tuple(kept))

    def tail(self, start: int) -> LayerPattern[T]:
        """What is left after the first ``start`` items."""
        kept: list[PatternRun[T]] = []
        for run in self.runs:
            if start >= run.length:
                start -= run.length
                continue
            whole, rest = divmod(start, len(run.period))
            start = 0
            if rest:
                kept.extend(LayerPattern.of(run.period[rest:]).runs)
                whole += 1
            if run.times > whole:
                kept.append(PatternRun(run.period, run.times - whole))
        return LayerPattern(tuple(kept))

    def with_item(self, index: int, item: T) -> LayerPattern[T]:
        """The list with one item replaced; out of range changes nothing."""
        if not 0 <= index < self.length:
            return self
        return self.head(index) + LayerPattern.of((item,)) + self.tail(index + 1)

    def zip(self, other: LayerPattern[U]) -> LayerPattern[tuple[T, U]]:
        """Pairs up to the shorter length."""
        left, right = list(reversed(self.runs)), list(reversed(other.runs))
        runs: list[PatternRun[tuple[T, U]]] = []
        while left and right:
            a, b = left.pop(), right.pop()
            shared = min(a.length, b.length)
            period_length = min(lcm(len(a.period), len(b.period)), shared)
            period = tuple((a.period[i % len(a.period)], b.period[i % len(b.period)]) for i in range(period_length))
            whole, rest = divmod(shared, period_length)
            runs.append(PatternRun(period, whole))
            runs.extend(LayerPattern.of(period[:rest]).runs)
            left.extend(reversed(LayerPattern((a,)).tail(shared).runs))
            right.extend(reversed(LayerPattern((b,)).tail(shared).runs))
        return LayerPattern(tuple(runs))


def _repetitions(items: tuple[T, ...], start: int, length: int) -> int:
    """How often ``items[start:start + length]`` stands there in a row."""
    period = items[start : start + length]
    times = 1
    while items[start + times * length : start + (times + 1) * length] == period:
        times += 1
    return times
