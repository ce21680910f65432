"""The generated files beside the rules are true, and what saves loading a rule never hides a finding."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from neurarch_rules.engine import discovery, run
from neurarch_rules.testing.page import parse
from neurarch_rules.testing.run_example import problems

ROOT = Path(__file__).resolve().parents[2]


def tool(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_index_of_rules_is_true() -> None:
    written = Path(discovery.index_path()).read_text(encoding="utf-8")
    assert written == tool("index_rules").rendered(), "run tools/index_rules.py"


def test_page_of_all_rules_is_true() -> None:
    page = tool("rules_index_page")
    assert page.TARGET.read_text(encoding="utf-8") == page.rendered(), "run tools/rules_index_page.py"


def test_known_keys_are_those_of_the_catalogue() -> None:
    recorder = tool("record_known_keys")
    assert recorder.TARGET.read_text(encoding="utf-8") == recorder.rendered(), "run tools/record_known_keys.py"


@pytest.mark.parametrize("name", discovery.rule_names())
def test_what_a_rule_needs_never_hides_a_finding(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    page = parse(Path(discovery.page_path(discovery.load(name).RULE)).read_text(encoding="utf-8"))
    monkeypatch.setattr(run, "_with_a_say", lambda rules, *_: rules)
    for example in page.examples:
        assert problems(example, name) == []
