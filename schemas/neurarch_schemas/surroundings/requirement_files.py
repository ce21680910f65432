"""Which files around a document may state versions of libraries."""

from __future__ import annotations

from neurarch_schemas.surroundings.source import Source

LOCK_FILES = ("uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock")
FILES = ("requirements.txt", "pyproject.toml", *LOCK_FILES)


def is_requirements_file(name: str) -> bool:
    return name in FILES or (name.startswith("requirements") and name.endswith((".txt", ".in")))


def candidates(source: Source, names: frozenset[str]) -> tuple[str, ...]:
    """The files that may state versions, nearest first; lock files, which are exact, before others of their folder."""
    beside = sorted((name for name in names if is_requirements_file(name)), key=_exactness)
    return (*beside, *source.above(BY_EXACTNESS))


def _exactness(name: str) -> tuple[bool, bool, str]:
    return name not in LOCK_FILES, name != "requirements.txt", name


BY_EXACTNESS = tuple(sorted(FILES, key=_exactness))
