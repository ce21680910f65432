"""Run rules over what is known about one file. Pure: the same analysis and options give the same findings."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress as suppress_errors
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from neurarch_rules.engine import discovery, selection, suppress
from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Place
from neurarch_rules.engine.locate import span_of
from neurarch_rules.engine.options import Ignore, Options

if TYPE_CHECKING:
    from neurarch_rules.engine.rule import Rule, RuleInfo, When
    from neurarch_schemas.analysis import Analysis
    from neurarch_schemas.documents.document import FileKind
    from neurarch_schemas.surroundings.folder import Folder


class Crash(NamedTuple):
    """A rule that raised: a defect of ours, never of the user's file."""

    rule: str
    error: Exception


class Result(NamedTuple):
    """``findings`` in order of place; ``suppressed`` ones are kept for counting; ``used`` are the settings entries
    that silenced something; ``seconds`` per rule where a clock was given, and before them, under their names in
    ``SHARED``, of what rules share."""

    findings: tuple[Finding, ...]
    suppressed: tuple[Finding, ...] = ()
    used: tuple[Ignore, ...] = ()
    crashes: tuple[Crash, ...] = ()
    seconds: tuple[tuple[str, float], ...] = ()


def check(analysis: Analysis, options: Options) -> list[Finding]:
    """The findings of one file, complete (rule, severity, category), suppressed ones left out."""
    return list(run(analysis, options).findings)


def run(
    analysis: Analysis,
    options: Options,
    rules: Iterable[Rule] | None = None,
    clock: Callable[[], float] | None = None,
) -> Result:
    """As ``check``, with what was suppressed, what crashed and how long each rule took.

    ``rules`` replaces the discovered ones (tests, plugins under development).
    """
    kind = analysis.kind
    chosen = _chosen(options, kind) if rules is None else _reading(kind, selection.selected(rules, options))
    context = Context(analysis, options)
    findings: list[tuple[Finding, RuleInfo | None]] = []
    crashes: list[Crash] = []
    seconds: list[tuple[str, float]] = [] if clock is None else _computed(analysis, clock)
    for rule in _with_a_say(chosen, analysis, options):
        info = rule.RULE
        started = clock() if clock else 0.0
        try:
            found = [(_complete(finding, info, options), info) for finding in rule.check(context)]
        except Exception as error:  # a rule must never take the run down
            crashes.append(Crash(info.name, error))
        else:
            findings += found
        if clock:
            seconds.append((info.name, clock() - started))
    if kind == "python" and rules is None:
        findings.extend(_of_config_calls(analysis, options, crashes))
    findings.extend((finding, None) for finding in _crash_findings(crashes))
    return _suppress(analysis, options, findings, crashes, seconds)


SHARED = {"built": "(shared) module tree", "visits": "(shared) its modules", "kv_cache": "(shared) KV cache"}
"""Parts of a config's analysis that nearly every file's rules ask for; no single rule is to blame for their time."""


def _computed(analysis: Analysis, clock: Callable[[], float]) -> list[tuple[str, float]]:
    """Computes what rules share, so that none of them is charged with it."""
    if analysis.kind == "python":
        return []
    seconds: list[tuple[str, float]] = []
    for part, name in SHARED.items():
        started = clock()
        with suppress_errors(Exception):  # the rule that asks for it reports the defect
            getattr(analysis, part)
        seconds.append((name, clock() - started))
    return seconds


def _of_config_calls(
    analysis: Analysis, options: Options, crashes: list[Crash]
) -> list[tuple[Finding, RuleInfo | None]]:
    from neurarch_rules.engine import config_calls

    try:
        found = list(config_calls.findings(analysis, options))
    except Exception as error:  # as for a rule
        crashes.append(Crash("the reading of config classes", error))
        return []
    known = {rule.RULE.name: rule.RULE for rule in discovery.all_rules(options.plugins)}
    return [(finding, known.get(finding.rule)) for finding in found]


LARGE = 200_000
"""Code points from which searching for a rule's words costs more than running it."""


BESIDE: dict[When, tuple[str, ...]] = {
    "checkpoint": (".index.json", ".safetensors"),
    "tokenizer": (
        *("tokenizer.json", "tokenizer_config.json", "added_tokens.json", "vocab.json"),
        "sentence_bert_config.json",
    ),
    "beside": ("",),
}
"""Endings of the file names one of which must lie beside the document."""


def _lies_beside(folder: Folder, endings: tuple[str, ...]) -> bool:
    if any(name.endswith(endings) for name in folder.listing or ()):
        return True
    return any(name.endswith(endings) for name in folder.json_files)


def _missing(analysis: Analysis, options: Options) -> frozenset[When]:
    """What rules may need to speak, and is not there."""
    missing: set[When] = {when for when, endings in BESIDE.items() if not _lies_beside(analysis.folder, endings)}
    if not analysis.document.problems and analysis.document.text.isascii():
        missing.add("problems")
    serving = options.serving
    if (serving.tensor_parallel, serving.pipeline_parallel, serving.gpu, serving.gpu_memory_gib) == (None,) * 4:
        missing.add("serving")
    return frozenset(missing)


def _with_a_say(rules: Iterable[Rule], analysis: Analysis, options: Options) -> list[Rule]:
    """The rules that find what they cannot speak without."""
    missing = _missing(analysis, options)
    text = analysis.document.own_text
    found: dict[tuple[str, ...], bool] = {(): True}  # many rules need the same words
    speaking = []
    for rule in rules:
        info = rule.RULE
        if info.when in missing:
            continue
        needs = info.needs
        has_a_say = found.get(needs)
        if has_a_say is None:
            has_a_say = found[needs] = len(text) > LARGE or _mentions(text, needs)
        if has_a_say:
            speaking.append(rule)
    return speaking


def _mentions(text: str, words: tuple[str, ...]) -> bool:
    for word in words:  # noqa: SIM110  # a generator costs as much as the search
        if word in text:
            return True
    return False


def _crash_findings(crashes: list[Crash]) -> list[Finding]:
    """One finding for each distinct error: rules share what is computed about a file, so one defect can fail many."""
    rules: dict[str, list[str]] = {}
    for crash in crashes:
        rules.setdefault(f"{type(crash.error).__name__}: {crash.error}", []).append(crash.rule)
    return [internal_error(", ".join(names), text) for text, names in rules.items()]


def _chosen(options: Options, kind: FileKind) -> tuple[Rule, ...]:
    """The rules that run on a kind of file; the usual choice is made once."""
    if options.select or options.extend_select or options.ignore or options.severity:
        return _reading(kind, selection.selected(discovery.all_rules(options.plugins), options))
    return _default_rules(options.plugins, kind)


@cache
def _default_rules(plugins: tuple[str, ...], kind: FileKind) -> tuple[Rule, ...]:
    return _reading(kind, (rule for rule in discovery.all_rules(plugins) if rule.RULE.default))


def _reading(kind: FileKind, rules: Iterable[Rule]) -> tuple[Rule, ...]:
    return tuple(rule for rule in rules if kind in rule.RULE.reads)


def internal_error(what: str, error: str) -> Finding:
    return Finding(
        message=f"{what} failed on this file ({error}); please report it, everything else has run",
        place=Place(""),
        severity="error",
        rule="internal-error",
        category="correctness",
    )


def _complete(finding: Finding, info: RuleInfo, options: Options) -> Finding:
    asked = selection.level(info, options)
    severity = finding.severity or info.severity if asked is None or asked == "off" else asked
    return finding._replace(rule=info.name, category=info.category, severity=severity)


def _suppress(
    analysis: Analysis,
    options: Options,
    findings: list[tuple[Finding, RuleInfo | None]],
    crashes: list[Crash],
    seconds: list[tuple[str, float]],
) -> Result:
    document = analysis.document
    comments = suppress.comments(document.text) if analysis.kind == "python" else ()
    kept: list[tuple[int, int, int, Finding]] = []
    suppressed: list[Finding] = []
    used: list[Ignore] = []
    for order, (finding, info) in enumerate(findings):
        span = span_of(finding.place, document)
        if info is not None and (options.ignores or comments):
            entry = suppress.ignored_by(finding, options.ignores, info.aliases)
            if entry is not None:
                used.append(entry)
                suppressed.append(finding)
                continue
            if comments and suppress.commented_out(
                finding, document.lines.position(span[0])[0], comments, info.aliases
            ):
                suppressed.append(finding)
                continue
        kept.append((span[0], span[1], order, finding))
    kept.sort(key=lambda item: item[:3])
    ordered = tuple(item[3] for item in kept)
    return Result(ordered, tuple(suppressed), tuple(dict.fromkeys(used)), tuple(crashes), tuple(seconds))
