"""Near misses between names."""

from __future__ import annotations

from collections.abc import Iterable


def closest(name: str, known: Iterable[str], limit: int | None = None) -> str | None:
    """The known name within a small edit distance, unless two are equally close. Short names must be closer."""
    most = _allowed(name) if limit is None else limit
    best: list[str] = []
    letters = set(name)
    for candidate in known:
        if candidate == name or abs(len(candidate) - len(name)) > most:
            continue
        if len(letters ^ set(candidate)) > 2 * most:
            continue
        found = distance(name, candidate, most)
        if found < most or (found == most and not best):
            best = [candidate]
            most = found
        elif found == most:
            best.append(candidate)
    return best[0] if len(best) == 1 else None


def _allowed(name: str) -> int:
    return 0 if len(name) < 4 else 1 if len(name) < 8 else 2


def distance(first: str, second: str, most: int) -> int:
    """Optimal string alignment distance (insert, delete, replace, swap neighbours), ``most + 1`` when larger."""
    if first == second:
        return 0
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
