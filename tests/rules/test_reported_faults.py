"""Faults people reported in public, retyped small, with the finding each must give: tests/data/reported_faults.jsonl.

``url`` is the report, ``file`` and ``text`` the input, ``beside`` what lies in its folder, ``rule``, ``severity`` and
``key`` the finding. Lines without a rule look like faults and are none.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from neurarch_lsp.linting.lint import lint, read_text
from neurarch_lsp.settings.resolve import Resolver

LINES = (Path(__file__).parents[1] / "data" / "reported_faults.jsonl").read_text(encoding="utf-8").splitlines()
CASES: list[dict[str, Any]] = [json.loads(line) for line in LINES]


def findings(case: dict[str, Any], folder: Path) -> list[tuple[str, str, list[str]]]:
    """(rule, severity, pointers of the finding and what is related) of every finding."""
    path = folder / case["file"]
    for name, content in {**case.get("beside", {}), case["file"]: case["text"]}.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(content if isinstance(content, str) else json.dumps(content, indent=2), encoding="utf-8")
    report = lint(str(path), str(path), read_text(str(path)), Resolver().options_for(str(path))).report
    assert report is not None
    return [
        (
            finding.rule,
            finding.severity or "",
            [place.pointer or "" for place in (finding.place, *(other.place for other in finding.related))],
        )
        for finding in report.findings
    ]


@pytest.mark.parametrize("case", [case for case in CASES if "rule" in case], ids=lambda case: case["id"])
def test_reported_fault_is_found(case: dict[str, Any], tmp_path: Path) -> None:
    found = [item for item in findings(case, tmp_path) if item[:2] == (case["rule"], case["severity"])]
    assert any(pointer.endswith("/" + case["key"]) for item in found for pointer in item[2])


@pytest.mark.parametrize("case", [case for case in CASES if "rule" not in case], ids=lambda case: case["id"])
def test_what_only_looks_like_a_fault_is_left_alone(case: dict[str, Any], tmp_path: Path) -> None:
    assert [item for item in findings(case, tmp_path) if item[1] in ("error", "warning")] == []


def test_each_case_names_its_source() -> None:
    assert [case["id"] for case in CASES if not case["url"].startswith("https://")] == []
    assert len({case["id"] for case in CASES}) == len(CASES)
