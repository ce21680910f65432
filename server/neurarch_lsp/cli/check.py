"""``--check``: lint files and folders, print what was found, repair what can be repaired."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Iterable, Mapping
from typing import Any

from neurarch_lsp.cli import inputs
from neurarch_lsp.cli.lint import CannotRead, Outcome, lint, read_text, write_text
from neurarch_lsp.render.report import FileReport
from neurarch_lsp.render.style import Style, wants_colour
from neurarch_lsp.settings.resolve import Resolver, SettingsError
from neurarch_rules.engine import analyse, selection
from neurarch_rules.engine.finding import Applicability, Severity

OK, FINDINGS, FAILURE = 0, 1, 2


def run(arguments: Namespace) -> int:
    """Returns the exit status: 0 clean, 1 findings at or above --fail-on, 2 usage or internal error."""
    problem = _usage_problem(arguments)
    if problem:
        return _fail(problem)
    resolver = Resolver(config=arguments.config, overrides=(_overrides(arguments),))
    outcomes: list[tuple[inputs.Input, Outcome]] = []
    failed = False
    try:
        for item in inputs.expand(arguments.paths, analyse.is_candidate):
            outcome = _check_one(item, arguments, resolver)
            if outcome is None:
                failed = True
            elif outcome.report is not None:
                outcomes.append((item, outcome))
    except inputs.MissingPath as error:
        return _fail(f"{error}: no such file or folder")
    except SettingsError as error:
        return _fail(str(error))
    return _finish(arguments, outcomes, failed)


def _check_one(item: inputs.Input, arguments: Namespace, resolver: Resolver) -> Outcome | None:
    """None when the file cannot be read; the reason goes to stderr and the run goes on."""
    is_stdin = item.path == "-"
    path = (arguments.stdin_filename or "-") if is_stdin else item.path
    if not is_stdin and resolver.excluded(path):
        return Outcome(None)
    try:
        text = read_text(item.path)
    except CannotRead as error:
        print(f"neurarch-lsp: {item.name}: {error}", file=sys.stderr)
        return None
    options = resolver.options_for(None if path == "-" else path)
    applicabilities: tuple[Applicability, ...] = ()
    if arguments.fix or arguments.diff:
        applicabilities = ("safe", "unsafe") if arguments.unsafe_fixes else ("safe",)
    outcome = lint(path if is_stdin else item.name, path, text, options, applicabilities)
    if arguments.fix and outcome.after != outcome.before and not is_stdin:
        write_text(item.path, outcome.after)
    return outcome


def _finish(arguments: Namespace, outcomes: list[tuple[inputs.Input, Outcome]], failed: bool) -> int:
    reports = [outcome.report for _, outcome in outcomes if outcome.report is not None]
    if arguments.diff:
        return _finish_diff(arguments, outcomes, failed)
    if arguments.fix and any(item.path == "-" for item, _ in outcomes):
        # the repaired text is the output; findings go to stderr
        _write(next(outcome.after for item, outcome in outcomes if item.path == "-"), sys.stdout)
        _write(_render(arguments, reports, len(outcomes), sys.stderr), sys.stderr)
    else:
        _write(_render(arguments, reports, len(outcomes), sys.stdout), sys.stdout)
    applied = sum(len(outcome.applied) for _, outcome in outcomes)
    if applied and not arguments.quiet:
        print(f"Fixed {applied} {'finding' if applied == 1 else 'findings'}.", file=sys.stderr)
    crashes = [crash for _, outcome in outcomes if outcome.result for crash in outcome.result.crashes]
    if failed or crashes:
        return FAILURE
    return FINDINGS if _fails(reports, arguments.fail_on) else OK


def _finish_diff(arguments: Namespace, outcomes: list[tuple[inputs.Input, Outcome]], failed: bool) -> int:
    from neurarch_lsp.render.diff import unified

    changed = [(item, outcome) for item, outcome in outcomes if outcome.after != outcome.before]
    for item, outcome in changed:
        name = (arguments.stdin_filename or "-") if item.path == "-" else item.name
        _write(unified(name, outcome.before, outcome.after), sys.stdout)
    if failed:
        return FAILURE
    reports = [outcome.report for _, outcome in outcomes if outcome.report is not None]
    return FINDINGS if changed or _fails(reports, arguments.fail_on) else OK


def _render(arguments: Namespace, reports: list[FileReport], files: int, stream: Any) -> str:
    style = Style(wants_colour(arguments.color, os.environ, stream.isatty()))
    form = arguments.output_format or "full"
    if form == "json":
        from neurarch_lsp.render import json_findings

        return json_findings.render(reports)
    if form == "concise":
        from neurarch_lsp.render import concise

        text = concise.render(reports, style)
    else:
        from neurarch_lsp.render import full

        text = full.render(reports, style)
    if arguments.quiet:
        return text
    from neurarch_lsp.render.summary import summary

    return text + summary(reports, files)


def _fails(reports: Iterable[FileReport], floor: Severity | str) -> bool:
    if floor == "never":
        return False
    return any(
        selection.at_least(finding.severity, floor)  # type: ignore[arg-type]  # argparse has checked the choice
        for report in reports
        for finding in report.findings
    )


def _overrides(arguments: Namespace) -> Mapping[str, Any]:
    """The command line as a settings table."""
    table: dict[str, Any] = {}
    for key in ("select", "extend_select", "ignore"):
        values = getattr(arguments, key)
        if values:
            table[key.replace("_", "-")] = _names(values)
    return table


def _names(values: Iterable[str]) -> list[str]:
    return [name.strip() for value in values for name in value.split(",") if name.strip()]


def _usage_problem(arguments: Namespace) -> str | None:
    from neurarch_lsp.cli.arguments import CHECK_FORMATS

    if arguments.output_format not in (None, *CHECK_FORMATS):
        return f"--output-format {arguments.output_format}: with --check it is one of {', '.join(CHECK_FORMATS)}"
    names = [name for key in ("select", "extend_select", "ignore") for name in _names(getattr(arguments, key) or ())]
    if names:
        from neurarch_rules.engine import discovery

        unknown = selection.unknown(names, discovery.all_rules())
        if unknown:
            return f"unknown rule or category: {', '.join(unknown)} (neurarch-lsp --rules lists them)"
    return None


def _fail(message: str) -> int:
    print(f"neurarch-lsp: {message}", file=sys.stderr)
    return FAILURE


def _write(text: str, stream: Any) -> None:
    """Write UTF-8 whatever the locale; lone surrogates of undecodable input pass through as their bytes."""
    stream.flush()
    buffer = getattr(stream, "buffer", None)
    if buffer is None:
        stream.write(text)
        return
    buffer.write(text.encode("utf-8", "surrogateescape"))
    buffer.flush()
