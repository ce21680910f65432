"""What holds for all rules together; each page's own examples are collected from beside the rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from neurarch_rules.engine import discovery
from neurarch_rules.engine.rule import Rule
from neurarch_rules.engine.selection import CATEGORIES, ORDER
from neurarch_rules.testing.page import parse
from neurarch_rules.testing.run_example import problems

RULES = discovery.all_rules()


def page_of(rule: Rule) -> str:
    return Path(discovery.page_path(rule.RULE)).read_text(encoding="utf-8")


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.RULE.name)
def test_every_rule_has_a_page(rule: Rule) -> None:
    assert Path(discovery.page_path(rule.RULE)).exists()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.RULE.name)
def test_bad_examples_fail_when_the_rule_is_hidden(rule: Rule) -> None:
    others = tuple(other for other in RULES if other is not rule)
    for example in parse(page_of(rule)).examples:
        if example.section == "Bad":
            assert problems(example, rule.RULE.name, others), f"line {example.line} passes without the rule"


def test_names_are_file_names_and_unique() -> None:
    names = [rule.RULE.name for rule in RULES]
    aliases = [alias for rule in RULES for alias in rule.RULE.aliases]
    assert names == list(discovery.rule_names())
    assert len({*names, *aliases}) == len(names) + len(aliases)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.RULE.name)
def test_metadata_is_well_formed(rule: Rule) -> None:
    info = rule.RULE
    assert info.severity in ORDER
    assert info.category in CATEGORIES
    assert info.summary
    assert not info.summary.endswith(".")
    assert len(info.summary) <= 120


def test_a_broken_page_is_noticed() -> None:
    rule = discovery.load("heads-indivisible")
    example = parse(page_of(rule)).examples[0]
    example.files[0] = type(example.files[0])("config.json", example.files[0].text.replace("6", "8"), 1)
    assert problems(example, rule.RULE.name)
