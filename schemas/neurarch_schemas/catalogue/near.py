"""Model types and keys that are spelled almost like a given name."""

from __future__ import annotations

from collections.abc import Iterable

from neurarch_schemas.catalogue.load import ConfigType, index


def model_types() -> tuple[str, ...]:
    """Every model type transformers has."""
    return tuple(index()["types"])


def near_model_types(name: str) -> tuple[str, ...]:
    """Model types spelled almost like ``name``, the nearest first."""
    return near(name, model_types())


def near_keys(record: ConfigType, name: str) -> tuple[str, ...]:
    """Keys of a type spelled almost like ``name``, the nearest first."""
    return near(name, (*record.properties, *record.synonyms, *record.keywords))


def near(name: str, candidates: Iterable[str], most: int = 3) -> tuple[str, ...]:
    """Candidates within one edit for each four letters (at least one), the nearest first."""
    limit = max(1, len(name) // 4)
    folded = name.lower().replace("-", "_")
    found = []
    for candidate in dict.fromkeys(candidates):
        if candidate != name and abs(len(candidate) - len(name)) <= limit:
            edits = distance(folded, candidate.lower().replace("-", "_"), limit)
            if edits <= limit:
                found.append((edits, candidate))
    return tuple(candidate for _, candidate in sorted(found)[:most])


def distance(left: str, right: str, limit: int) -> int:
    """Edits (insert, delete, replace, swap neighbours) between two names; ``limit + 1`` where there are more.

    The restricted Damerau-Levenshtein distance.
    """
    before: list[int] = []
    previous = list(range(len(right) + 1))
    for row, letter in enumerate(left, 1):
        current = [row]
        for column, other in enumerate(right, 1):
            cost = min(previous[column] + 1, current[column - 1] + 1, previous[column - 1] + (letter != other))
            swapped = row > 1 and column > 1 and letter == right[column - 2] and left[row - 2] == other
            current.append(min(cost, before[column - 2] + 1) if swapped else cost)
        if min(current) > limit:
            return limit + 1
        before, previous = previous, current
    return previous[-1]
