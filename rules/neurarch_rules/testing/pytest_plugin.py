"""Collects rule pages. In a project of one's own: ``pytest_plugins = ["neurarch_rules.testing.pytest_plugin"]``.

A Markdown file is a page when a rule module of the same name lies beside it; a rule module without a page is a failing
test of its own.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import pytest

from neurarch_rules.engine import discovery
from neurarch_rules.engine.rule import Rule
from neurarch_rules.testing.check_page import form_problems
from neurarch_rules.testing.page import Example, parse
from neurarch_rules.testing.run_example import problems


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> PageFile | None:
    if file_path.suffix == ".md" and file_path.with_suffix(".py").exists():
        return PageFile.from_parent(parent, path=file_path)
    return None


class PageFile(pytest.File):
    def collect(self) -> Iterator[pytest.Item]:
        rule = load_rule(self.path.with_suffix(".py"))
        page = parse(self.path.read_text(encoding="utf-8"))
        yield FormItem.from_parent(self, name="form", rule=rule, found=form_problems(page, rule))
        rules = with_builtin(rule)
        for example in page.examples:
            name = f"{example.section.lower().replace(' ', '-')}-line-{example.line}"
            yield ExampleItem.from_parent(self, name=name, rule=rule, example=example, rules=rules)


class PageItem(pytest.Item):
    """``funcargs`` is there for plugins that look at every item's fixtures (pytest-lsp 1.0 fails without it)."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.funcargs: dict[str, object] = {}


class FormItem(PageItem):
    def __init__(self, *, rule: Rule, found: list[str], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.rule = rule
        self.found = found

    def runtest(self) -> None:
        if self.found:
            raise PageError("\n".join(self.found))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> str:  # noqa: ARG002
        return str(excinfo.value)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, self.rule.RULE.name


class ExampleItem(PageItem):
    def __init__(self, *, rule: Rule, example: Example, rules: tuple[Rule, ...], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.rule = rule
        self.example = example
        self.rules = rules

    def runtest(self) -> None:
        found = problems(self.example, self.rule.RULE.name, self.rules)
        if found:
            raise PageError("\n".join(found))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> str:
        if isinstance(excinfo.value, PageError):
            return f"{self.path}:{self.example.line}\n{excinfo.value}"
        return str(super().repr_failure(excinfo, style))

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self.example.line, f"{self.rule.RULE.name}: {self.example.section}"


class PageError(Exception):
    """An example does not behave as its page says."""


def load_rule(path: Path) -> Rule:
    """The rule module beside a page: a built-in one by name, any other from its file."""
    name = path.stem.replace("_", "-")
    if name in discovery.rule_names() and Path(discovery.load(name).__file__) == path:  # type: ignore[attr-defined]
        return discovery.load(name)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise PageError(f"{path} cannot be loaded")
    module: ModuleType = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return cast(Rule, module)


def with_builtin(rule: Rule) -> tuple[Rule, ...]:
    """All built-in rules and this one."""
    rules = discovery.all_rules()
    return rules if any(other.RULE.name == rule.RULE.name for other in rules) else (*rules, rule)
