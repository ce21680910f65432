"""Which rules there are: the files of ``neurarch_rules.rules``, and those of plugins that a settings file names."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from functools import cache, cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from neurarch_rules import rules as package
from neurarch_rules.engine.rule import Rule, RuleInfo

if TYPE_CHECKING:
    from neurarch_rules.engine.context import Context
    from neurarch_rules.engine.finding import Finding

FOLDER = os.path.dirname(package.__file__ or "")
ENTRY_POINT_GROUP = "neurarch_lsp.rules"
META_RULES = ("internal-error", "unused-suppression")
"""Findings the engine itself makes; settings may name them like rules, and pages explain them."""


class LazyRule:
    """A built-in rule whose metadata comes from the index; its module is imported when it first runs."""

    def __init__(self, info: RuleInfo) -> None:
        self.RULE = info

    def check(self, context: Context) -> Iterable[Finding]:
        return self._rule.check(context)

    @cached_property
    def _rule(self) -> Rule:
        return load(self.RULE.name)


@cache
def rule_names() -> tuple[str, ...]:
    """The built-in rules in alphabetical order, without importing one of them."""
    files = os.listdir(FOLDER)
    return tuple(sorted(file[:-3].replace("_", "-") for file in files if file.endswith(".py") and file[0] != "_"))


@cache
def load(name: str) -> Rule:
    """The rule module of a built-in rule. Raises ModuleNotFoundError for an unknown name."""
    return cast(Rule, import_module(f"{package.__name__}.{name.replace('-', '_')}"))


@cache
def all_rules(plugins: tuple[str, ...] = ()) -> tuple[Rule, ...]:
    index = _index()
    own = tuple(LazyRule(index[name]) if name in index else load(name) for name in rule_names())
    return own + tuple(_plugin_rules(plugins)) if plugins else own


def find(name: str, plugins: tuple[str, ...] = ()) -> Rule | None:
    """A rule by name or former name."""
    for rule in all_rules(plugins):
        if name == rule.RULE.name or name in rule.RULE.aliases:
            return rule
    return None


def page_path(info: RuleInfo) -> str:
    """Where the Markdown page of a built-in rule lies."""
    return page_of(info.name)


def page_of(name: str) -> str:
    """As ``page_path``, by name; also for what the engine itself reports."""
    return os.path.join(FOLDER, name.replace("-", "_") + ".md")


def index_path() -> str:
    """A copy of every rule's metadata, so that starting does not import all rules (tools/index_rules.py writes it)."""
    return os.path.join(FOLDER, "index.json")


def _index() -> dict[str, RuleInfo]:
    try:
        with open(index_path(), "rb") as file:
            entries = json.loads(file.read())
    except OSError:
        return {}
    return {entry["name"]: RuleInfo(**{key: _frozen(value) for key, value in entry.items()}) for entry in entries}


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _plugin_rules(plugins: Iterable[str]) -> Iterator[Rule]:
    """A plugin's entry point names a function that returns its rule modules (or objects with RULE and check)."""
    from importlib.metadata import entry_points

    wanted = set(plugins)
    for point in entry_points(group=ENTRY_POINT_GROUP):
        if point.name in wanted:
            provide = cast(Callable[[], Iterable[Rule]], point.load())
            yield from provide()
