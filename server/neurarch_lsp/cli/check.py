"""``--check``: lint files and folders, print what was found, repair what can be repaired."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from neurarch_lsp.linting import batch, inputs
from neurarch_lsp.linting.lint import Outcome, write_text
from neurarch_lsp.render.report import FileReport
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
    try:
        tasks = _tasks(arguments, resolver)
        if arguments.show_files or arguments.show_settings:
            from neurarch_lsp.cli import show

            _write(show.files(tasks) if arguments.show_files else show.settings(tasks, resolver), sys.stdout)
            return OK
        done = list(batch.run(tasks, arguments.jobs, _cache_folder(arguments)))
    except inputs.MissingPath as error:
        return _fail(f"{error}: no such file or folder")
    except SettingsError as error:
        return _fail(str(error))
    return _finish(arguments, resolver, done)


def _tasks(arguments: Namespace, resolver: Resolver) -> Iterator[batch.Task]:
    applicabilities: tuple[Applicability, ...] = ()
    if arguments.fix or arguments.diff:
        applicabilities = ("safe", "unsafe") if arguments.unsafe_fixes else ("safe",)
    for item in inputs.expand(arguments.paths, analyse.is_candidate):
        is_stdin = item.path == "-"
        path = (arguments.stdin_filename or "-") if is_stdin else item.path
        if not is_stdin and resolver.excluded(path):
            continue
        options = resolver.options_for(None if path == "-" else path)
        name = path if is_stdin else item.name
        yield batch.Task(name, item.path, path, options, applicabilities, arguments.show_timing, item.given)


def _finish(arguments: Namespace, resolver: Resolver, done: list[batch.Done]) -> int:
    failed = False
    outcomes: list[tuple[batch.Task, Outcome]] = []
    for item in done:
        if item.problem is not None:
            print(f"neurarch-lsp: {item.task.name}: {item.problem}", file=sys.stderr)
            failed = True
        elif item.outcome is not None and item.outcome.report is not None:
            outcomes.append((item.task, item.outcome))
        elif item.outcome is not None and item.task.given and item.task.path != "-" and not arguments.quiet:
            why = _not_ours(item.outcome.before)
            print(f"neurarch-lsp: warning: {item.task.name} was not checked: {why}", file=sys.stderr)
    if arguments.diff:
        return _finish_diff(arguments, outcomes, failed)
    if arguments.fix:
        for task, outcome in outcomes:
            if outcome.after != outcome.before and task.path != "-":
                try:
                    write_text(task.path, outcome.after)
                except OSError as error:
                    problem = error.strerror or error
                    print(f"neurarch-lsp: {task.name}: cannot be written: {problem}", file=sys.stderr)
                    failed = True
    reports = [outcome.report for _, outcome in outcomes if outcome.report is not None]
    reports += _unused_suppressions(arguments, resolver, outcomes)
    status = _bookkeeping(arguments, resolver, reports)
    if status is not None:
        return status
    if arguments.baseline:
        from neurarch_lsp.cli import baseline

        try:
            reports = baseline.subtract(arguments.baseline, reports)
        except baseline.BaselineError as error:
            return _fail(str(error))
    _print(arguments, outcomes, reports)
    crashed = any(outcome.result and outcome.result.crashes for _, outcome in outcomes)
    if failed or crashed:
        return FAILURE
    return FINDINGS if _fails(reports, arguments.fail_on) else OK


def _not_ours(text: str) -> str:
    """Why a file that was asked for by name is passed over; other tools call their files config.json too."""
    if not text.strip("\ufeff \t\r\n"):
        return "it is empty"
    return "it describes no model" if text.lstrip("\ufeff \t\r\n").startswith("{") else "it holds no JSON object"


def _bookkeeping(arguments: Namespace, resolver: Resolver, reports: list[FileReport]) -> int | None:
    """--write-baseline and --add-ignores: findings are written down instead of printed."""
    if arguments.write_baseline:
        from neurarch_lsp.cli import baseline

        count = baseline.write(arguments.write_baseline, reports)
        print(
            f"Wrote {count} {'finding' if count == 1 else 'findings'} to {arguments.write_baseline}.", file=sys.stderr
        )
        return OK
    if arguments.add_ignores is not None:
        from neurarch_lsp.cli import suppressions

        written, left = suppressions.add(reports, resolver, arguments.add_ignores)
        for target, count in written.items():
            entries = "entry" if count == 1 else "entries"
            print(f"Wrote {count} suppression {entries} to {os.path.relpath(target)}.", file=sys.stderr)
        for finding in left:
            print(f"Left as it is, because nothing can read such a file: {finding.message}", file=sys.stderr)
        return OK
    return None


def _unused_suppressions(
    arguments: Namespace, resolver: Resolver, outcomes: list[tuple[batch.Task, Outcome]]
) -> list[FileReport]:
    """Only where all rules ran: a rule left out on the command line silences nothing either."""
    if arguments.select or arguments.ignore or arguments.fix or not any(resolver.matched.values()):
        return []
    from neurarch_lsp.cli import suppressions

    used = {entry for _, outcome in outcomes if outcome.result for entry in outcome.result.used}
    return suppressions.unused(resolver.matched, used, resolver.files())


def _print(arguments: Namespace, outcomes: list[tuple[batch.Task, Outcome]], reports: list[FileReport]) -> None:
    if arguments.fix and any(task.path == "-" for task, _ in outcomes):
        # the repaired text is the output; findings go to stderr
        _write(next(outcome.after for task, outcome in outcomes if task.path == "-"), sys.stdout)
        _write(_render(arguments, reports, len(outcomes), sys.stderr), sys.stderr)
    else:
        _write(_render(arguments, reports, len(outcomes), sys.stdout), sys.stdout)
    applied = sum(len(outcome.applied) for _, outcome in outcomes)
    if applied and not arguments.quiet:
        print(f"Fixed {applied} {'finding' if applied == 1 else 'findings'}.", file=sys.stderr)
    if arguments.show_timing:
        from neurarch_lsp.render.statistics import timing

        spent = (pair for _, outcome in outcomes if outcome.result for pair in outcome.result.seconds)
        _write(timing(spent), sys.stderr)


def _finish_diff(arguments: Namespace, outcomes: list[tuple[batch.Task, Outcome]], failed: bool) -> int:
    from neurarch_lsp.render.diff import unified

    changed = [(task, outcome) for task, outcome in outcomes if outcome.after != outcome.before]
    for task, outcome in changed:
        _write(unified(task.name, outcome.before, outcome.after), sys.stdout)
    if failed:
        return FAILURE
    reports = [outcome.report for _, outcome in outcomes if outcome.report is not None]
    return FINDINGS if changed or _fails(reports, arguments.fail_on) else OK


def _render(arguments: Namespace, reports: list[FileReport], files: int, stream: Any) -> str:
    form = arguments.output_format or "full"
    if arguments.statistics:
        from neurarch_lsp.render.statistics import statistics

        return statistics(reports, form == "json")
    if form in ("json", "sarif", "github", "gitlab", "junit"):
        return _machine_readable(form, reports)
    from neurarch_lsp.render.style import Style, wants_colour

    style = Style(wants_colour(arguments.color, os.environ, stream.isatty()))
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


def _machine_readable(form: str, reports: list[FileReport]) -> str:
    if form == "json":
        from neurarch_lsp.render import json_findings

        return json_findings.render(reports)
    if form == "sarif":
        from neurarch_lsp.render import sarif

        return sarif.render(reports)
    if form == "github":
        from neurarch_lsp.render import github

        return github.render(reports)
    if form == "gitlab":
        from neurarch_lsp.render import gitlab

        return gitlab.render(reports)
    from neurarch_lsp.render import junit

    return junit.render(reports)


def _cache_folder(arguments: Namespace) -> str | None:
    if arguments.no_cache:
        return None
    if arguments.cache_dir:
        return str(arguments.cache_dir)
    from neurarch_lsp.linting.cache import default_folder

    return default_folder()


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
    if arguments.jobs < 0:
        return "--jobs needs a number of processes, or 0"
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
    try:
        data = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # a surrogate that a file spells as an escape stands for no byte
        data = text.encode("utf-8", "backslashreplace")
    buffer.write(data)
    buffer.flush()
