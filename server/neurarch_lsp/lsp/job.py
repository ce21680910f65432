"""One analysis of one document version, on a worker thread."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, cast

from neurarch_lsp.features.poll import Poll
from neurarch_lsp.lsp import editor_settings, uris
from neurarch_lsp.lsp.folders import FolderCache
from neurarch_lsp.lsp.open_documents import OpenDocument
from neurarch_lsp.lsp.scheduler import Superseded
from neurarch_lsp.lsp.session_settings import DocumentSettings
from neurarch_lsp.settings.find import SettingsError
from neurarch_rules.engine.options import Options
from neurarch_schemas.documents.json_document import JsonDocument
from neurarch_schemas.elsewhere import Elsewhere, here

if TYPE_CHECKING:
    from neurarch_rules.engine.finding import Finding
    from neurarch_rules.engine.run import Result
    from neurarch_schemas.analysis import Analysis
    from neurarch_schemas.documents.document import Span
    from neurarch_schemas.python_analysis import PythonAnalysis

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Job:
    """``parsed`` holds the newest parse of each open JSON document, by key, so that an edit need not read all again."""

    document: OpenDocument
    settings: DocumentSettings
    client_name: str
    parsed: MutableMapping[str, JsonDocument]
    folders: FolderCache
    interpreting: Elsewhere = here


@dataclass(frozen=True, slots=True)
class Analysed:
    """``analysis`` is None for a file that is none of ours; ``why`` says so in words either way.

    ``findings`` are all of them; those in ``hidden`` rules are not reported because the editor says the same, but
    their fixes are offered.
    """

    document: OpenDocument
    analysis: Analysis | None
    options: Options
    why: str
    parsed: JsonDocument | None = None
    """The JSON as read, also of a file that is none of ours (yet)."""
    python: PythonAnalysis | None = None
    """Instead of ``analysis`` for Python code."""
    findings: tuple[Finding, ...] = ()
    hidden: frozenset[str] = frozenset()
    settings_problem: SettingsError | None = None
    problems: tuple[tuple[Span, str], ...] = ()
    """Of a settings file: what is wrong in it, and where."""
    failure: str | None = None
    """A defect of ours that left nothing to show: its kind, for one diagnostic on the first line."""
    seconds: Mapping[str, float] = field(default_factory=dict)

    @property
    def checked(self) -> Analysis | PythonAnalysis | None:
        """What the rules have read: where the places of findings are."""
        return self.analysis if self.analysis is not None else self.python

    @property
    def configs(self) -> tuple[Analysis, ...]:
        """The model files in the document: JSON is one, Python code constructs any number of configs."""
        if self.python is not None:
            return tuple(call.analysis for call in self.python.config_calls)
        return () if self.analysis is None else (self.analysis,)

    def config_at(self, offset: int) -> Analysis | None:
        """The one that a place belongs to."""
        if self.python is None:
            return self.analysis
        return next((call.analysis for call in self.python.config_calls if call.covers(offset)), None)

    @property
    def reported(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.rule not in self.hidden)


def run(job: Job, poll: Poll) -> Analysed:
    """Parse, analyse, lint. Raises Superseded between two steps when a newer version has arrived.

    A defect of ours is logged and told by ``failure``; it never takes the server down.
    """
    try:
        return _run(job, poll)
    except Superseded:
        raise
    except Exception as error:
        logger.exception("the analysis of %s failed", job.document.uri)
        job.parsed.pop(job.document.key, None)
        return Analysed(job.document, None, Options(), "the analysis failed", failure=type(error).__name__)


def _run(job: Job, poll: Poll) -> Analysed:
    from neurarch_lsp.features import settings_file
    from neurarch_rules.engine.analyse import analyse

    document = job.document
    marks = {"start": time.perf_counter()}
    options, problem, excluded = _options(job)
    name = uris.file_name(document.uri)
    if settings_file.is_settings_file(name):
        found = tuple(settings_file.problems(document.path or name, document.text))
        return Analysed(document, None, options, "a settings file", problems=found)
    if document.language == "toml":
        return Analysed(document, None, options, "a TOML file", settings_problem=problem)
    if document.language == "python" or name.endswith((".py", ".pyi")):
        return _run_python(job, poll, options, problem, excluded)
    json_document = _parse(job)
    marks["parsed"] = time.perf_counter()
    poll()
    folder = job.folders.get(document.path, json_document.data)
    analysis = analyse(json_document, document.path or _assumed_name(document), folder, None, job.interpreting)
    marks["analysed"] = time.perf_counter()
    if analysis is None:
        return Analysed(
            document, None, options, "the content is not that of a model file", json_document, settings_problem=problem
        )
    if excluded:
        return Analysed(
            document, analysis, options, "excluded by the settings", json_document, settings_problem=problem
        )

    result = _lint(analysis, options, poll, document.uri)
    marks["linted"] = time.perf_counter()
    return Analysed(
        document,
        analysis,
        options,
        f"a {analysis.kind.replace('_', ' ')} file",
        json_document,
        findings=result.findings,
        hidden=editor_settings.hidden_rules(job.settings.editor, job.client_name, document.language),
        settings_problem=problem,
        seconds=_durations(marks),
    )


def _run_python(job: Job, poll: Poll, options: Options, problem: SettingsError | None, excluded: bool) -> Analysed:
    from neurarch_rules.engine.analyse import analyse
    from neurarch_schemas.documents.python_document import PythonDocument

    document = job.document
    started = time.perf_counter()
    parsed = PythonDocument.parse(document.text, document.uri, document.version)
    # The analysis of Python code has a type of its own behind the common one; see engine.analyse.
    folder = job.folders.get(document.path, None)
    found = cast("PythonAnalysis | None", analyse(parsed, document.path or "-", folder, None, job.interpreting))
    if found is None:
        return Analysed(document, None, options, "Python without model code", settings_problem=problem)
    if excluded:
        return Analysed(document, None, options, "excluded by the settings", settings_problem=problem)
    poll()
    result = _lint(cast("Analysis", found), options, poll, document.uri)
    return Analysed(
        document,
        None,
        options,
        "Python model code",
        python=found,
        findings=result.findings,
        settings_problem=problem,
        seconds={"linted": time.perf_counter() - started},
    )


def _lint(analysis: Analysis, options: Options, poll: Poll, uri: str) -> Result:
    from neurarch_rules.engine import run as engine

    def clock() -> float:
        poll()
        return time.perf_counter()

    result = engine.run(analysis, options, clock=clock)
    for crash in result.crashes:
        logger.error("the rule %s failed on %s", crash.rule, uri, exc_info=crash.error)
    return result


def _options(job: Job) -> tuple[Options, SettingsError | None, bool]:
    """The options of the document; a broken settings file is reported and counts as absent."""
    path = job.document.path
    try:
        resolver = job.settings.resolver
        return resolver.options_for(path), None, path is not None and resolver.excluded(path)
    except SettingsError as error:
        logger.warning("%s", error)
        return Options(), error, False


def _parse(job: Job) -> JsonDocument:
    document = job.document
    known = job.parsed.get(document.key)
    steps = document.history.since(known.version) if known is not None else None
    if known is not None and steps is not None and known.uri == document.uri:
        parsed = known
        for step in steps:
            parsed = parsed.edited((step.edit,), step.version)
    else:
        parsed = JsonDocument.parse(document.text, _json_name(document), document.version)
    job.parsed[document.key] = parsed
    return parsed


def _json_name(document: OpenDocument) -> str:
    """The URI, which also tells the parser by its ending whether comments are allowed."""
    return document.uri if document.language != "jsonc" or document.uri.endswith(".jsonc") else document.uri + ".jsonc"


def _assumed_name(document: OpenDocument) -> str:
    """A buffer without a file counts as a config: what it is decides its content."""
    name = uris.file_name(document.uri)
    return name if name.endswith(".json") else "config.json"


def _durations(marks: Mapping[str, float]) -> dict[str, float]:
    names = list(marks)
    return {name: marks[name] - marks[before] for before, name in pairwise(names)}


__all__ = ["Analysed", "Job", "Superseded", "run"]
