"""docs/architectures.md says what is covered, and all of the first two groups is."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def coverage() -> ModuleType:
    specification = importlib.util.spec_from_file_location("coverage_table", ROOT / "tools" / "coverage.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_the_page_is_true(coverage: ModuleType) -> None:
    found = coverage.verdicts()
    assert coverage.page(found) == coverage.PAGE.read_text(encoding="utf-8"), "run tools/coverage.py --write"
    assert all(value != "wrong" for types in found.values() for value in types.values())
    causal, generating, _ = found.values()
    assert all(value == "exact" for value in causal.values())
    assert all(value == "exact" for value in generating.values())
