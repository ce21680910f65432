"""Near misses between names."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

LONGEST = 100
"""No known name comes near: what is longer is no slip, and a text of megabytes is kept by no cache."""


def closest(name: str, known: Iterable[str], limit: int | None = None) -> str | None:
    """The known name within a small edit distance, unless two are equally close. Short names must be closer."""
    if len(name) > LONGEST:
        return None
    most = _allowed(name) if limit is None else limit
    return _closest(name, _shared(known if isinstance(known, frozenset) else frozenset(known)), most)


@lru_cache(maxsize=64)
def _shared(known: frozenset[str]) -> frozenset[str]:
    """One set for all that are equal: caches that keep a set with each name would keep hundreds of the same."""
    return known


@lru_cache(maxsize=1024)
def _closest(name: str, known: frozenset[str], most: int) -> str | None:
    """The same unknown keys are met again and again: with every keystroke, and in file after file of a family."""
    best: list[str] = []
    for candidate in _one_edit_away(name, known) if most == 1 and len(name) >= LONG else _near(name, known, most):
        if candidate == name:
            continue
        found = distance(name, candidate, most)
        if found < most or (found == most and not best):
            best = [candidate]
            most = found
        elif found == most:
            best.append(candidate)
    return best[0] if len(best) == 1 else None


def _near(name: str, known: frozenset[str], most: int) -> list[str]:
    """Names of about the same length and with about the same letters."""
    length, letters = len(name), _bits(name)
    by_length = _by_length(known)
    return [
        candidate
        for size in range(length - most, length + most + 1)
        for candidate, its_letters in by_length.get(size, ())
        if (letters ^ its_letters).bit_count() <= 2 * most
    ]


ENDS = 3
LONG = 2 * ENDS + 1
"""One edit in a name of this length leaves its first or its last three letters as they are."""


def _one_edit_away(name: str, known: frozenset[str]) -> set[str]:
    """Among others all names that one edit may have made this one of; many sets of names are large."""
    by_ends = _by_ends(known)
    found: set[str] = set()
    for size in (len(name) - 1, len(name), len(name) + 1):
        found.update(by_ends.get((size, name[:ENDS], ""), ()))
        found.update(by_ends.get((size, "", name[-ENDS:]), ()))
    return found


@lru_cache(maxsize=64)
def _by_ends(known: frozenset[str]) -> dict[tuple[int, str, str], list[str]]:
    """Names by their length and first letters, and by their length and last letters."""
    found: dict[tuple[int, str, str], list[str]] = {}
    for name in known:
        found.setdefault((len(name), name[:ENDS], ""), []).append(name)
        found.setdefault((len(name), "", name[-ENDS:]), []).append(name)
    return found


def forget() -> None:
    """Near names are looked for again: what benchmarks call so that each file is as if it were the first."""
    _closest.cache_clear()


@lru_cache(maxsize=64)
def _by_length(known: frozenset[str]) -> dict[int, list[tuple[str, int]]]:
    """Names of each length with their letters, in alphabetical order."""
    found: dict[int, list[tuple[str, int]]] = {}
    for name in sorted(known):
        found.setdefault(len(name), []).append((name, _letters(name)))
    return found


@lru_cache(maxsize=16384)
def _letters(name: str) -> int:
    """``_bits`` of a known name; many sets hold the same names."""
    return _bits(name)


def _bits(name: str) -> int:
    """The set of a name's letters as bits; letters that share a bit only let more names through."""
    bits = 0
    for letter in name:
        bits |= 1 << (ord(letter) & 63)
    return bits


def _allowed(name: str) -> int:
    return 0 if len(name) < 4 else 1 if len(name) < 8 else 2


def distance(first: str, second: str, most: int) -> int:
    """Optimal string alignment distance (insert, delete, replace, swap neighbours), ``most + 1`` when larger."""
    if first == second:
        return 0
    while first and second and first[0] == second[0]:
        first, second = first[1:], second[1:]
    while first and second and first[-1] == second[-1]:
        first, second = first[:-1], second[:-1]
    if most == 1 and (len(first) > 2 or len(second) > 2):
        return 2
    previous: list[int] = []
    current = list(range(len(second) + 1))
    for row, left in enumerate(first, 1):
        before, previous, current = previous, current, [row] + [0] * len(second)
        for column, right in enumerate(second, 1):
            cost = min(previous[column] + 1, current[column - 1] + 1, previous[column - 1] + (left != right))
            if row > 1 and column > 1 and left == second[column - 2] and first[row - 2] == right:
                cost = min(cost, before[column - 2] + 1)
            current[column] = cost
        if min(current) > most:
            return most + 1
    return min(current[-1], most + 1)
