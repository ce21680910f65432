"""Reported faults are found, look-alikes and published files are left alone. Needs the corpus beside the repository."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path

import pytest

from neurarch_lsp.linting.lint import Outcome, lint
from neurarch_rules.engine import discovery
from neurarch_rules.engine.analyse import analyse_text
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.options import Options
from neurarch_rules.engine.run import run
from tests.rules import corpus

pytestmark = pytest.mark.skipif(not corpus.SHARED.exists(), reason="the corpus is not beside the repository")

OVER_BUDGET = 16
"""Published files whose cache of 8,192 tokens truly exceeds 4 GB."""
CONTRADICTORY = {
    "Qwen__Qwen3-32B-FP8-Static-PerTensor.json": "quant-method-missing",
    "bryce-hoehn__Qwen3.5-25B-REAP-A3B-Coding.json": "architectures-mismatch",
    "ibm-granite__granite-3b-code-base.json": "wrong-type",
    "sophgo__config.7382a4d.generation_config.json": "generation-flag-ignored",
}
"""Published files that contradict themselves; every other warning is about non-finite numbers or the cache budget."""
MILLISECONDS_PER_RULE = 10.0
"""The budget is 1 ms on a quiet machine, which benchmarks measure; this catches what is slow by nature."""
LARGE = 500_000


@pytest.mark.parametrize("case", corpus.cases("bugs.jsonl"), ids=lambda case: f"{case.id}-{case.kind}")
def test_reported_fault_is_found(case: corpus.Case, tmp_path: Path) -> None:
    outcome, found = corpus.findings(corpus.lay_out(case, tmp_path))
    assert corpus.is_found(case, outcome), [f"{item.severity} {item.rule} {item.place.pointer}" for item in found]


@pytest.mark.parametrize("case", corpus.cases("clean.jsonl"), ids=lambda case: f"{case.id}-{case.kind}")
def test_look_alike_is_left_alone(case: corpus.Case, tmp_path: Path) -> None:
    _, found = corpus.findings(corpus.lay_out(case, tmp_path))
    grave = [item for item in found if item.severity in ("error", "warning") and item.rule != "kv-cache-context-budget"]
    assert [f"{item.rule}: {item.message}" for item in grave] == []


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    root = tmp_path_factory.mktemp("published")
    outcomes: dict[str, Outcome] = {}
    for name, real, text in corpus.published():
        path = root / name / real
        path.parent.mkdir()
        path.write_text(text, encoding="utf-8")
        outcomes[name] = lint(str(path), str(path), text, Options())
    return outcomes


def of(outcome: Outcome) -> tuple[Finding, ...]:
    return outcome.report.findings if outcome.report else ()


def test_every_published_file_is_ours(published: dict[str, Outcome]) -> None:
    assert [name for name, outcome in published.items() if outcome.report is None] == []


def test_published_files_have_no_error(published: dict[str, Outcome]) -> None:
    errors = [
        f"{name}: {item.rule}: {item.message}"
        for name, outcome in published.items()
        for item in of(outcome)
        if item.severity == "error"
    ]
    assert errors == []


def test_warnings_on_published_files_are_the_defensible_ones(published: dict[str, Outcome]) -> None:
    counts: Counter[str] = Counter()
    others: list[str] = []
    for name, outcome in published.items():
        for item in of(outcome):
            if item.severity != "warning":
                continue
            counts[item.rule] += 1
            if item.rule not in ("kv-cache-context-budget", "json-nonfinite", CONTRADICTORY.get(name)):
                others.append(f"{name}: {item.rule}: {item.message}")
    assert others == []
    assert counts["kv-cache-context-budget"] == OVER_BUDGET


def test_no_rule_is_slow(published: dict[str, Outcome]) -> None:
    """CPU time of each rule, best of three, what it shares with others (module tree, counts) already computed."""
    slow: list[str] = []
    for name, real, text in corpus.published():
        analysis = analyse_text(real, text) if len(text) < LARGE else None
        if analysis is None:
            continue
        assert published[name].report is not None
        for value in (analysis.rows, analysis.kv_cache, analysis.parameters, analysis.weights):
            assert value is None or value is not analysis
        rules = {rule.RULE.name for rule in discovery.all_rules()}
        runs = [dict(run(analysis, Options(), clock=time.thread_time).seconds) for _ in range(3)]
        for rule in rules & runs[0].keys():
            milliseconds = min(seconds[rule] for seconds in runs) * 1000
            if milliseconds > MILLISECONDS_PER_RULE:
                slow.append(f"{name}: {rule} {milliseconds:.1f} ms")
    assert slow == []
