"""Which rules there are: the files of ``neurarch_rules.rules``, and those of plugins that a settings file names."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib import import_module
from typing import cast

from neurarch_rules import rules as package
from neurarch_rules.engine.rule import Rule, RuleInfo

ENTRY_POINT_GROUP = "neurarch_lsp.rules"
META_RULES = ("internal-error", "unused-suppression")
"""Findings the engine itself makes; they have pages and severities like rules."""


@cache
def rule_names() -> tuple[str, ...]:
    """The built-in rules in alphabetical order, without importing one of them."""
    files = os.listdir(os.path.dirname(package.__file__ or ""))
    return tuple(sorted(file[:-3].replace("_", "-") for file in files if file.endswith(".py") and file[0] != "_"))


@cache
def load(name: str) -> Rule:
    """The rule module of a built-in rule. Raises ModuleNotFoundError for an unknown name."""
    return cast(Rule, import_module(f"{package.__name__}.{name.replace('-', '_')}"))


@cache
def all_rules(plugins: tuple[str, ...] = ()) -> tuple[Rule, ...]:
    own = tuple(load(name) for name in rule_names())
    return own + tuple(_plugin_rules(plugins)) if plugins else own


def find(name: str, plugins: tuple[str, ...] = ()) -> Rule | None:
    """A rule by name or former name."""
    for rule in all_rules(plugins):
        if name == rule.RULE.name or name in rule.RULE.aliases:
            return rule
    return None


def page_path(info: RuleInfo) -> str:
    """Where the Markdown page of a built-in rule lies."""
    return os.path.join(os.path.dirname(package.__file__ or ""), info.name.replace("-", "_") + ".md")


def _plugin_rules(plugins: Iterable[str]) -> Iterator[Rule]:
    """A plugin's entry point names a function that returns its rule modules (or objects with RULE and check)."""
    from importlib.metadata import entry_points

    wanted = set(plugins)
    for point in entry_points(group=ENTRY_POINT_GROUP):
        if point.name in wanted:
            provide = cast(Callable[[], Iterable[Rule]], point.load())
            yield from provide()
