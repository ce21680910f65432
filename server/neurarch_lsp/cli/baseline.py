"""A baseline: findings that were there before, by file, rule, pointer and message, never by line."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable

from neurarch_lsp.render.report import FileReport
from neurarch_rules.engine.finding import Finding

VERSION = 1
Key = tuple[str, str, str | None, str]


class BaselineError(Exception):
    """The baseline file cannot be used; ``str(error)`` says why."""


def write(path: str, reports: Iterable[FileReport]) -> int:
    """Write all findings of a run; returns their number. Files are named relative to the baseline's folder."""
    folder = os.path.dirname(os.path.abspath(path))
    counts = Counter(_key(finding, report, folder) for report in reports for finding in report.findings)
    entries = [
        {"file": file, "rule": rule, "pointer": pointer, "message": message, "count": count}
        for (file, rule, pointer, message), count in sorted(counts.items(), key=lambda item: _order(item[0]))
    ]
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(json.dumps({"version": VERSION, "findings": entries}, indent=1, ensure_ascii=False) + "\n")
    return sum(counts.values())


def subtract(path: str, reports: list[FileReport]) -> list[FileReport]:
    """The reports without what the baseline holds. Raises BaselineError."""
    known = _read(path)
    folder = os.path.dirname(os.path.abspath(path))
    return [report._replace(findings=_new(report, known, folder)) for report in reports]


def _new(report: FileReport, known: Counter[Key], folder: str) -> tuple[Finding, ...]:
    kept: list[Finding] = []
    for finding in report.findings:
        key = _key(finding, report, folder)
        if known[key] > 0:
            known[key] -= 1
        else:
            kept.append(finding)
    return tuple(kept)


def _read(path: str) -> Counter[Key]:
    try:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
        if data["version"] != VERSION:
            raise BaselineError(f"{path}: version {data['version']} is not known here")
        return Counter(
            {
                (entry["file"], entry["rule"], entry["pointer"], entry["message"]): int(entry["count"])
                for entry in data["findings"]
            }
        )
    except OSError as error:
        raise BaselineError(f"{path}: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise BaselineError(f"{path}: not a baseline of neurarch-lsp") from error


def _key(finding: Finding, report: FileReport, folder: str) -> Key:
    file = os.path.relpath(os.path.abspath(report.file), folder).replace(os.sep, "/")
    return file, finding.rule, finding.place.pointer, finding.message


def _order(key: Key) -> tuple[str, str, str, str]:
    return key[0], key[1], key[2] or "", key[3]
