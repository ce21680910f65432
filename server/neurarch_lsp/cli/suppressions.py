"""Suppression entries of settings files: writing them for what was found, reporting those that silence nothing."""

from __future__ import annotations

import os
from collections.abc import Iterable

from neurarch_lsp.render.report import FileReport
from neurarch_lsp.settings import ignores
from neurarch_lsp.settings.find import SettingsFile
from neurarch_lsp.settings.resolve import Resolver
from neurarch_rules.engine.finding import Finding, Place
from neurarch_rules.engine.options import Ignore, ignore_from
from neurarch_schemas.documents.json_document import JsonDocument

RULE = "unused-suppression"


UNREADABLE = ("json-syntax", "internal-error")
"""What only a person can decide to silence: the file, or a rule, could not be read or run at all."""


def add(reports: Iterable[FileReport], resolver: Resolver, reason: str) -> tuple[dict[str, int], list[Finding]]:
    """Write an entry for every finding into the settings file nearest to its file.

    Returns the number of entries per file, and the findings for which none was written.
    """
    entries: dict[str, list[Ignore]] = {}
    left: list[Finding] = []
    for report in reports:
        found = resolver.file_for(report.file)
        target = ignores.target(os.getcwd(), found.path if found else None)
        root = found.root if found else os.getcwd()
        name = os.path.relpath(os.path.abspath(report.file), root).replace(os.sep, "/")
        for finding in report.findings:
            if finding.rule in UNREADABLE:
                left.append(finding)
                continue
            entry = Ignore("/" + name if "/" not in name else name, (finding.rule,), finding.place.pointer, reason)
            if entry not in entries.setdefault(target, []):
                entries[target].append(entry)
    for target, new in entries.items():
        text = ""
        if os.path.exists(target):
            with open(target, encoding="utf-8", newline="") as file:
                text = file.read()
        with open(target, "w", encoding="utf-8", newline="") as file:
            file.write(ignores.appended(text, new, os.path.basename(target) == "pyproject.toml"))
    return {target: len(new) for target, new in entries.items()}, left


def unused(matched: dict[str, set[Ignore]], used: set[Ignore], files: Iterable[SettingsFile]) -> list[FileReport]:
    """A report for each settings file with entries that matched a linted file and silenced nothing.

    ``matched`` are, by settings file, the entries whose glob matched a file of this run.
    """
    reports: list[FileReport] = []
    for settings in files:
        idle = matched.get(settings.path, set()) - used
        if not idle:
            continue
        with open(settings.path, encoding="utf-8", newline="") as file:
            text = file.read()
        spans = ignores.spans(text)
        findings = []
        for at, data in enumerate(settings.data.get("ignores", ())):
            entry = ignore_from(data)
            if entry in idle:
                span = spans[at] if at < len(spans) else (0, 0)
                findings.append(_finding(entry, span))
        name = os.path.relpath(settings.path).replace(os.sep, "/")
        reports.append(FileReport(name, JsonDocument.parse("", settings.path), tuple(findings), text=text))
    return reports


def _finding(entry: Ignore, span: tuple[int, int]) -> Finding:
    what = ", ".join(entry.rules) or "any rule"
    where = f" at {entry.pointer}" if entry.pointer is not None else ""
    return Finding(
        f"this entry silences nothing: no finding of {what}{where} in {entry.file}",
        Place(None, span),
        severity="warning",
        rule=RULE,
        category="hygiene",
    )
