"""The engine: which rules run, how loud they are, what silences them, and that one failure stays one failure."""

from __future__ import annotations

import json
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest

from neurarch_rules.engine import selection, suppress
from neurarch_rules.engine.analyse import analyse, analyse_text, is_candidate
from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Place
from neurarch_rules.engine.locate import span_of
from neurarch_rules.engine.options import Ignore, Options, options_from
from neurarch_rules.engine.rule import Rule, RuleInfo
from neurarch_rules.engine.run import run
from neurarch_schemas.analysis import Analysis
from neurarch_schemas.documents.json_document import JsonDocument
from neurarch_schemas.surroundings.folder import Folder

TEXT = '{\n  "model_type": "llama",\n  "rope_scaling": {\n    "factor": 2.0\n  },\n  "vocab_size": 32000\n}\n'


def rule(
    name: str, *findings: Finding, category: str = "correctness", error: Exception | None = None, **more: Any
) -> Rule:
    def check(context: Context) -> Iterator[Finding]:  # noqa: ARG001
        yield from findings
        if error is not None:
            raise error

    info = RuleInfo(name, "warning", cast(Any, category), "A rule", **more)
    return cast(Rule, SimpleNamespace(RULE=info, check=check))


def known(text: str = TEXT) -> Analysis:
    found = analyse(JsonDocument.parse(text, "config.json"), "config.json", Folder())
    assert found is not None
    return found


def names(options: Options, *rules: Rule) -> list[str]:
    return [item.rule for item in run(known(), options, rules).findings]


A = rule("a-rule", Finding("a", Place("/vocab_size")), aliases=("old-name",))
B = rule("b-rule", Finding("b", Place("/model_type")), category="hygiene")
OFF = rule("off-rule", Finding("o", Place("")), default=False)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, ["b-rule", "a-rule"]),
        ({"select": ["a-rule"]}, ["a-rule"]),
        ({"select": ["old-name"]}, ["a-rule"]),
        ({"select": ["hygiene"]}, ["b-rule"]),
        ({"select": ["all"]}, ["off-rule", "b-rule", "a-rule"]),
        ({"extend-select": ["off-rule"]}, ["off-rule", "b-rule", "a-rule"]),
        ({"ignore": ["hygiene"]}, ["a-rule"]),
        ({"ignore": ["old-name"]}, ["b-rule"]),
        ({"ignore": ["correctness"], "select": ["a-rule", "hygiene"]}, ["b-rule", "a-rule"]),
        ({"select": ["a-rule"], "ignore": ["a-rule"]}, []),
        ({"severity": {"a-rule": "off"}}, ["b-rule"]),
        ({"severity": {"hygiene": "off"}}, ["a-rule"]),
        ({"severity": {"off-rule": "info"}}, ["off-rule", "b-rule", "a-rule"]),
    ],
)
def test_selection(settings: dict[str, Any], expected: list[str]) -> None:
    assert names(options_from(settings), A, B, OFF) == expected


def test_severity_is_the_finding_s_the_rule_s_or_the_setting_s() -> None:
    soft = rule("soft", Finding("x", Place(""), severity="hint"), Finding("y", Place("/vocab_size")))
    severities = [item.severity for item in run(known(), Options(), (soft,)).findings]
    assert severities == ["hint", "warning"]
    louder = options_from({"severity": {"soft": "error"}})
    assert [item.severity for item in run(known(), louder, (soft,)).findings] == ["error", "error"]


def test_unknown_names_are_told() -> None:
    assert selection.unknown(["a-rule", "old-name", "hygiene", "all", "nonsense"], (A, B)) == ("nonsense",)


def test_a_rule_that_raises_is_one_finding_and_the_others_run() -> None:
    broken = rule("broken", Finding("lost", Place("")), error=KeyError("x"))
    also = rule("also-broken", error=KeyError("x"))
    result = run(known(), Options(), (broken, A, also))
    assert [item.rule for item in result.findings] == ["internal-error", "a-rule"]
    assert "broken, also-broken" in result.findings[0].message
    assert len(result.crashes) == 2


@pytest.mark.parametrize(
    ("entry", "is_silent"),
    [
        (Ignore(rules=("a-rule",)), True),
        (Ignore(rules=("old-name",)), True),
        (Ignore(rules=("correctness",)), True),
        (Ignore(rules=("b-rule",)), False),
        (Ignore(rules=("a-rule",), pointer="/vocab_size"), True),
        (Ignore(rules=("a-rule",), pointer=""), True),
        (Ignore(rules=("a-rule",), pointer="/vocab"), False),
        (Ignore(pointer="/vocab_size"), True),
    ],
)
def test_suppression_entries(entry: Ignore, is_silent: bool) -> None:
    result = run(known(), Options(ignores=(entry,)), (A,))
    assert (result.findings == ()) is is_silent
    assert (result.used == (entry,)) is is_silent
    assert (len(result.suppressed) == 1) is is_silent


def test_a_pointer_covers_what_lies_below_it() -> None:
    assert suppress.covers("/rope_scaling", "/rope_scaling/factor")
    assert not suppress.covers("/rope_scaling/factor", "/rope_scaling")
    assert not suppress.covers("/rope", None)


def test_comments_in_python() -> None:
    text = (
        "x = 1  # neurarch: ignore[a-rule, b-rule] measured\n"
        "# neurarch: ignore[a-rule]\n"
        "y = 2\n"
        "z = 3\n"
        "# neurarch: file-ignore[c-rule] generated\n"
    )
    found = suppress.comments(text)
    assert [item.rules for item in found] == [("a-rule", "b-rule"), ("a-rule",), ("c-rule",)]
    finding = Finding("m", Place(None, (0, 1)), rule="a-rule")
    silenced = [line for line in range(5) if suppress.commented_out(finding, line, found, ())]
    assert silenced == [0, 1, 2]
    assert suppress.commented_out(Finding("m", Place(None, (0, 1)), rule="c-rule"), 3, found, ())
    assert suppress.comments("x = 1") == ()


@pytest.mark.parametrize(
    ("place", "shown"),
    [
        (Place("/vocab_size"), "32000"),
        (Place("/vocab_size", on="key"), '"vocab_size"'),
        (Place("/vocab_size", on="pair"), '"vocab_size": 32000'),
        (Place("/rope_scaling"), '"rope_scaling"'),
        (Place("/rope_scaling/factor"), "2.0"),
        (Place("/rope_scaling/type"), '"rope_scaling"'),
        (Place("/absent"), "{"),
        (Place(""), "{"),
        (Place(None, (4, 8)), TEXT[4:8]),
    ],
)
def test_the_narrowest_range_is_shown(place: Place, shown: str) -> None:
    start, end = span_of(place, known().document)
    assert TEXT[start:end] == shown


def test_findings_come_in_the_order_of_the_file() -> None:
    many = rule("many", *(Finding(pointer, Place(pointer)) for pointer in ("/vocab_size", "", "/rope_scaling/factor")))
    found = [item.message for item in run(known(), Options(), (many,)).findings]
    assert found == ["", "/rope_scaling/factor", "/vocab_size"]


def test_a_shared_fact_is_computed_once() -> None:
    context = Context(known(), Options())
    calls: list[int] = []
    for _ in range(3):
        assert context.once("x", lambda: calls.append(1) or "value") == "value"
    assert calls == [1]


def test_running_changes_nothing() -> None:
    analysis = known()
    before = json.dumps(analysis.document.data)
    first = run(analysis, Options()).findings
    assert run(analysis, Options()).findings == first
    assert json.dumps(analysis.document.data) == before


@pytest.mark.parametrize(
    "text", ["", "{", "[1, 2", '{"model_type": ', "null", '{"model_type": "llama", "hidden_size": {}}', "\x00"]
)
def test_damaged_files_never_crash_a_rule(text: str) -> None:
    analysis = analyse_text("config.json", text)
    if analysis is not None:
        assert run(analysis, Options()).crashes == ()


def test_candidates_are_told_by_name() -> None:
    assert is_candidate("config.json")
    assert is_candidate("generation_config.json")
    assert is_candidate("params.json")
    assert not is_candidate("vocab.json")
    assert not is_candidate("config.yaml")
