"""Everything a rule's page must have and hold: what the pytest collector runs, usable without pytest."""

from __future__ import annotations

from collections.abc import Iterable

from neurarch_rules.engine.rule import Rule
from neurarch_rules.testing.page import Page, parse
from neurarch_rules.testing.run_example import problems

REQUIRED = ("Why", "Bad", "Good")


def form_problems(page: Page, rule: Rule) -> list[str]:
    """Missing title, section or example."""
    found: list[str] = []
    if page.title != rule.RULE.name:
        found.append(f"the title must be the rule's name, {rule.RULE.name}, not {page.title!r}")
    found += (f"the section {name} is missing" for name in REQUIRED if name not in page.sections)
    for name in ("Bad", "Good"):
        if not any(example.section == name for example in page.examples):
            found.append(f"the section {name} has no example")
    return found


def page_problems(text: str, rule: Rule, rules: Iterable[Rule] | None = None) -> list[str]:
    """All problems of a page, each with the line of its example."""
    page = parse(text)
    found = form_problems(page, rule)
    for example in page.examples:
        found += (f"line {example.line}: {problem}" for problem in problems(example, rule.RULE.name, rules))
    return found
