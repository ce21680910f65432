"""Run one example of a page and say what differs from what it expects."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from neurarch_rules.engine import analyse
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.fixes import apply_edits, fix_text
from neurarch_rules.engine.locate import span_of
from neurarch_rules.engine.options import Options, options_from
from neurarch_rules.engine.rule import Rule
from neurarch_rules.engine.run import run
from neurarch_rules.testing.assertions import Expected, extract
from neurarch_rules.testing.page import Example


@dataclass(frozen=True, slots=True)
class Linted:
    """One linted file: its findings with the zero-based line each one starts on."""

    name: str
    text: str
    findings: tuple[tuple[int, Finding], ...]


def options_of(example: Example) -> Options:
    """The settings of an example's toml block, as a settings file beside it would give them."""
    if example.settings is None:
        return Options()
    import tomllib

    return options_from(tomllib.loads(example.settings))


def lint_text(path: str, text: str, options: Options, rules: Iterable[Rule] | None = None) -> Linted:
    """Lint a text as if it were the file at ``path``; what lies beside it is read from the disk."""
    analysis = analyse.analyse_text(path, text)
    if analysis is None:
        return Linted(os.path.basename(path), text, ())
    found = run(analysis, options, rules).findings
    placed = tuple(
        (analysis.document.lines.position(span_of(finding.place, analysis.document)[0])[0], finding)
        for finding in found
    )
    return Linted(os.path.basename(path), text, placed)


def problems(example: Example, rule: str, rules: Iterable[Rule] | None = None) -> list[str]:
    """What is wrong with an example, one line each; empty when it behaves as its page says.

    Bad: every finding is by ``rule`` and asserted, and there is at least one. Elsewhere: none by ``rule``, and none
    that is not asserted. A fixed block: the first fix by ``rule`` gives exactly that text.
    """
    rules = None if rules is None else tuple(rules)
    options = options_of(example)
    found: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        texts: dict[str, tuple[str, tuple[Expected, ...]]] = {}
        for block in example.files:
            texts[block.name] = extract(block.text)
            _write(os.path.join(folder, block.name), texts[block.name][0])
        total = 0
        for name, (text, expected) in texts.items():
            if "/" in name:
                continue
            linted = lint_text(os.path.join(folder, name), text, options, rules)
            total += sum(finding.rule == rule for _, finding in linted.findings)
            found += _compare(linted, expected, example, rule)
        if example.section in ("Bad", "Fix") and not total:
            found.append(f"{rule} finds nothing here")
        if example.fixed is not None:
            name = next(iter(texts))
            found += _check_fix(os.path.join(folder, name), texts[name][0], example.fixed, options, rule, rules)
    return found


def _write(path: str, text: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(text)


def _compare(linted: Linted, expected: tuple[Expected, ...], example: Example, rule: str) -> list[str]:
    found: list[str] = []
    left = list(expected)
    for line, finding in linted.findings:
        match = next((wanted for wanted in left if _is(wanted, line, finding)), None)
        if match is not None:
            left.remove(match)
        elif example.section != "Fix" or finding.rule != rule:
            found.append(f"{linted.name}:{line + 1}: unexpected {finding.severity}: [{finding.rule}] {finding.message}")
        if example.section in ("Bad", "Fix") and finding.rule != rule:
            found.append(f"{linted.name}:{line + 1}: another rule speaks: {finding.rule}")
        if example.section in ("Good", "Not flagged") and finding.rule == rule:
            found.append(f"{linted.name}:{line + 1}: {rule} must be silent here")
    found += (
        f'{linted.name}:{wanted.line + 1}: missing {wanted.severity}: [{wanted.rule}] "{wanted.message}"'
        for wanted in left
    )
    return found


def _is(wanted: Expected, line: int, finding: Finding) -> bool:
    return (
        wanted.line == line
        and wanted.rule == finding.rule
        and wanted.severity == finding.severity
        and wanted.message in finding.message
    )


def _check_fix(
    path: str, text: str, fixed: str, options: Options, rule: str, rules: Iterable[Rule] | None
) -> list[str]:
    lint: Callable[[str], list[Finding]] = lambda text: [  # noqa: E731  # short, and used twice below
        finding for _, finding in lint_text(path, text, options, rules).findings
    ]
    fixes = [fix for finding in lint(text) if finding.rule == rule for fix in finding.fixes]
    if not fixes:
        return [f"{rule} offers no fix"]
    results = [apply_edits(text, fix.edits) for fix in fixes]
    if fixed not in results:
        return [f"no fix gives the text of the fixed block; the first gives:\n{results[0]}"]
    found: list[str] = []
    for fix, result in zip(fixes, results, strict=True):
        if fix.applicability == "safe":
            found += safe_fix_problems(text, result, lint, rule)
    return found


def safe_fix_problems(before: str, after: str, lint: Callable[[str], list[Finding]], rule: str) -> list[str]:
    """A safe fix removes its finding, brings no new error or warning, and a second run changes nothing."""
    old, new = lint(before), lint(after)
    found: list[str] = []
    if sum(finding.rule == rule for finding in new) >= sum(finding.rule == rule for finding in old):
        found.append(f"the finding of {rule} is still there after its fix")
    known = {(finding.rule, finding.place.pointer) for finding in old}
    found += (
        f"the fix brings a new {finding.severity}: [{finding.rule}] {finding.message}"
        for finding in new
        if finding.severity in ("error", "warning") and (finding.rule, finding.place.pointer) not in known
    )
    once = fix_text(before, lint)
    twice = fix_text(once.text, lint)
    if not once.settled or once.text != twice.text:
        found.append("applying the fixes twice changes the file again")
    return found
