"""Which rules run, and how loud: select, ignore and severity by rule name, former name or category."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from neurarch_rules.engine.finding import Severity
from neurarch_rules.engine.options import Level, Options
from neurarch_rules.engine.rule import Rule, RuleInfo

ORDER: tuple[Severity, ...] = ("error", "warning", "info", "hint")
CATEGORIES = ("correctness", "training", "serving", "hygiene", "security")


def at_least(severity: Severity | None, floor: Severity) -> bool:
    """Whether ``severity`` is as grave as ``floor`` or graver."""
    return severity is not None and ORDER.index(severity) <= ORDER.index(floor)


def names(info: RuleInfo, patterns: Collection[str]) -> bool:
    """Whether one of ``patterns`` (name, former name, category or "all") means this rule."""
    return (
        info.name in patterns
        or info.category in patterns
        or "all" in patterns
        or any(alias in patterns for alias in info.aliases)
    )


def selected(rules: Iterable[Rule], options: Options) -> tuple[Rule, ...]:
    """The rules that run. A rule named in ``select`` beats its category in ``ignore``; an exact ignore beats all."""
    if not (options.select or options.extend_select or options.ignore or options.severity):
        return tuple(rule for rule in rules if rule.RULE.default)
    return tuple(rule for rule in rules if is_selected(rule.RULE, options))


def is_selected(info: RuleInfo, options: Options) -> bool:
    own_names = {info.name, *info.aliases}
    if own_names & set(options.ignore) or level(info, options) == "off":
        return False
    if own_names & {*options.select, *options.extend_select}:
        return True
    if names(info, options.ignore):
        return False
    if names(info, options.extend_select) or "all" in options.select:
        return True
    if options.select:
        return info.default and names(info, options.select)
    return info.default or level(info, options) is not None


def level(info: RuleInfo, options: Options) -> Level | None:
    """The severity the settings ask for: by name first, then by category; None where they are silent."""
    for key in (info.name, *info.aliases, info.category):
        if key in options.severity:
            return options.severity[key]
    return None


def unknown(patterns: Iterable[str], rules: Iterable[Rule]) -> tuple[str, ...]:
    """Names that mean nothing: a usage error on the command line."""
    known = {"all", *CATEGORIES}
    for rule in rules:
        known.update((rule.RULE.name, *rule.RULE.aliases))
    return tuple(pattern for pattern in patterns if pattern not in known)
