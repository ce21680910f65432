"""Linting and numbers from Python, without a terminal: plain, picklable values for notebooks and clusters.

    >>> from neurarch_lsp import api
    >>> result = api.check_text('{"model_type": "llama", "num_key_value_heads": 6}', "config.json")
    >>> [finding.rule for finding in result.findings]
    ['architectures-missing', 'kv-heads-indivisible']
    >>> api.report_text('{"model_type": "gpt2"}')["parameters"]["total"]
    124439808

Nothing here prints, writes or touches the network. Files are read; settings files count as they do for ``--check``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from neurarch_lsp.settings.resolve import Resolver, SettingsError, search_paths

__all__ = [
    "CheckResult",
    "Edit",
    "Finding",
    "Fix",
    "Range",
    "Related",
    "SettingsError",
    "check_files",
    "check_text",
    "report_file",
    "report_text",
]

Severity = Literal["error", "warning", "info", "hint"]


@dataclass(frozen=True, slots=True)
class Range:
    """Lines and columns start at 1 and count code points; the end is exclusive."""

    start_line: int
    start_column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True)
class Related:
    """The other side of a contradiction."""

    file: str
    range: Range
    pointer: str | None
    message: str


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace ``range`` of ``file`` by ``new_text``; ranges are in the original text and do not overlap."""

    file: str
    range: Range
    new_text: str


@dataclass(frozen=True, slots=True)
class Fix:
    title: str
    applicability: Literal["safe", "unsafe", "display"]
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """One diagnosis, with the fields of ``--check --output-format json``."""

    file: str
    rule: str
    severity: Severity
    category: str
    message: str
    url: str
    range: Range
    pointer: str | None
    related: tuple[Related, ...]
    fixes: tuple[Fix, ...]


@dataclass(frozen=True, slots=True)
class CheckResult:
    """``kind`` is None for a file that is not ours; ``error`` says why a file could not be read."""

    file: str
    kind: str | None
    findings: tuple[Finding, ...] = ()
    error: str | None = None


def check_text(text: str, path: str = "config.json", settings: Mapping[str, Any] | None = None) -> CheckResult:
    """Lint a text as if it were the file at ``path``; what lies beside that path is read.

    ``settings`` is a settings table as TOML gives it and stands in for settings files, which are then not looked for.
    Raises SettingsError for settings, given or in a file, that ``--check`` refuses.
    """
    from neurarch_lsp.linting.lint import lint

    return _result(path, lint(path, path, text, _resolver(settings).options_for(path)))


def check_files(paths: Iterable[str], settings: Mapping[str, Any] | None = None, jobs: int = 1) -> list[CheckResult]:
    """Lint files in the order given, each under the settings nearest to it (or under ``settings``).

    Folders are not walked. Raises SettingsError for settings that cannot be used; a file that cannot be read is a
    result with an ``error``.
    """
    from neurarch_lsp.linting import batch

    resolver = _resolver(settings)
    tasks = (batch.Task(path, path, path, resolver.options_for(path)) for path in paths)
    return [
        CheckResult(done.task.name, None, error=done.problem)
        if done.outcome is None
        else _result(done.task.name, done.outcome)
        for done in batch.run(tasks, jobs)
    ]


def report_text(text: str, path: str = "config.json", contexts: Sequence[int] = ()) -> dict[str, Any]:
    """The numbers of a model as ``--report --output-format json`` gives them for one file.

    A ``path`` that ends in .py, or in .py:EXPRESSION, says that ``text`` is Python.
    """
    from neurarch_lsp.card.adapter_base import with_known_base
    from neurarch_lsp.card.python_report import is_python, python_entry
    from neurarch_lsp.card.sources import NO_CONFIGURATION
    from neurarch_lsp.render.report_json import entry, failed_entry

    if is_python(path):
        return python_entry(path, search_paths(path), contexts, text)
    from neurarch_rules.engine.analyse import analyse_text

    analysis = analyse_text(path, text)
    if analysis is None:
        return failed_entry(path, NO_CONFIGURATION)
    return entry(path, with_known_base(analysis), contexts)


def report_file(path: str, contexts: Sequence[int] = ()) -> dict[str, Any]:
    """As ``report_text``, for a file, or FILE.py:EXPRESSION; one that cannot be read is an entry with an ``error``."""
    from neurarch_lsp.card.python_report import is_python, python_entry
    from neurarch_lsp.linting.lint import CannotRead, read_text
    from neurarch_lsp.render.report_json import failed_entry

    if is_python(path):
        return python_entry(path, search_paths(path), contexts)
    try:
        text = read_text(path)
    except CannotRead as error:
        return failed_entry(path, str(error))
    return report_text(text, path, contexts)


def _resolver(settings: Mapping[str, Any] | None) -> Resolver:
    return Resolver() if settings is None else Resolver.of_table(settings)


def _result(file: str, outcome: Any) -> CheckResult:
    from neurarch_lsp.render.json_findings import entry
    from neurarch_rules.engine.analyse import kind_of

    report = outcome.report
    if report is None:
        return CheckResult(file, None)
    findings = tuple(_finding(entry(finding, report)) for finding in report.findings)
    return CheckResult(file, kind_of(report.document, file), findings)


def _finding(data: dict[str, Any]) -> Finding:
    return Finding(
        **{**data, "range": _range(data["range"]), "related": tuple(_related(item) for item in data["related"])}
        | {"fixes": tuple(_fix(fix) for fix in data["fixes"])}
    )


def _related(data: dict[str, Any]) -> Related:
    return Related(data["file"], _range(data["range"]), data["pointer"], data["message"])


def _fix(data: dict[str, Any]) -> Fix:
    edits = tuple(Edit(edit["file"], _range(edit["range"]), edit["new_text"]) for edit in data["edits"])
    return Fix(data["title"], data["applicability"], edits)


def _range(data: dict[str, dict[str, int]]) -> Range:
    start, end = data["start"], data["end"]
    return Range(start["line"], start["column"], end["line"], end["column"])
