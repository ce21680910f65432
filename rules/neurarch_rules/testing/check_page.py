"""What a rule's page must have."""

from __future__ import annotations

from neurarch_rules.engine.rule import Rule
from neurarch_rules.testing.page import Page

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
