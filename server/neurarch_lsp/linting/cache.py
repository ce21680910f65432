"""Findings on disk, keyed by all they depend on: text, surroundings, settings and this program."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from typing import Any

from neurarch_lsp.linting.lint import Outcome, Siblings
from neurarch_lsp.render.report import FileReport
from neurarch_rules.engine import analyse
from neurarch_rules.engine.finding import Finding, Fix, Place, Related
from neurarch_rules.engine.options import Ignore, Options
from neurarch_rules.engine.run import Result
from neurarch_schemas.documents.document import TextEdit
from neurarch_schemas.surroundings.folders_above import FoldersAbove


class Cache:
    """One entry a file, in the user's cache folder; unreadable or damaged entries count as absent."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.program = program_fingerprint()

    def key(self, path: str, text: str, options: Options, folders_above: FoldersAbove | None = None) -> str:
        names_base = "base_model_name_or_path" in text or "peft_type" in text
        document = analyse.parse(path, text if names_base else "")
        folder = analyse.surroundings(path, document, folders_above).key
        parts = (self.program, os.path.basename(path), folder, repr(options))
        digest = hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass"))
        digest.update(text.encode("utf-8", "surrogatepass"))
        return digest.hexdigest()

    def get(self, key: str, name: str, path: str, text: str) -> Outcome | None:
        try:
            with open(self._file(key), encoding="utf-8") as file:
                data = json.load(file)
            if data is None:
                return Outcome(None, None, text, text)
            findings = tuple(_finding(entry) for entry in data["findings"])
            used = tuple(Ignore(**{**entry, "rules": tuple(entry["rules"])}) for entry in data["used"])
        except (OSError, ValueError, KeyError, TypeError):
            return None
        report = FileReport(name, analyse.parse(path, text), findings, Siblings(path))
        return Outcome(report, Result(findings, used=used), text, text)

    def put(self, key: str, outcome: Outcome) -> None:
        if outcome.result is not None and outcome.result.crashes:
            return
        data = None
        if outcome.report is not None and outcome.result is not None:
            data = {
                "findings": [_plain(finding) for finding in outcome.report.findings],
                "used": [entry._asdict() for entry in outcome.result.used],
            }
        target = self._file(key)
        try:
            os.makedirs(os.path.dirname(target), exist_ok=True)
            temporary = f"{target}.{os.getpid()}"
            with open(temporary, "w", encoding="utf-8") as file:
                json.dump(data, file)
            os.replace(temporary, target)
        except (OSError, UnicodeEncodeError):
            return

    def _file(self, key: str) -> str:
        return os.path.join(self.folder, key[:2], key[2:] + ".json")


def default_folder() -> str:
    """``$XDG_CACHE_HOME/neurarch-lsp`` or its usual places; never inside a repository."""
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    return os.path.join(base or os.path.join(os.path.expanduser("~"), ".cache"), "neurarch-lsp", "findings")


def program_fingerprint() -> str:
    """Changes with every file of this program, code or data, so that an upgrade never meets old findings."""
    import neurarch_lsp
    import neurarch_rules
    import neurarch_schemas

    digest = hashlib.sha256()
    for package in (neurarch_schemas, neurarch_rules, neurarch_lsp):
        for line in stamps(os.path.dirname(package.__file__ or "")):
            digest.update(line.encode())
    return digest.hexdigest()


def stamps(folder: str) -> Iterator[str]:
    """A line for each file below a folder, with its size and the time of its last change."""
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if entry.is_dir():
            if entry.name != "__pycache__":
                yield from stamps(entry.path)
        else:
            status = entry.stat()
            yield f"{entry.path} {status.st_size} {status.st_mtime_ns}\n"


def _plain(finding: Finding) -> dict[str, Any]:
    return {
        **finding._asdict(),
        "place": finding.place._asdict(),
        "related": [{"place": item.place._asdict(), "message": item.message} for item in finding.related],
        "fixes": [
            {
                "title": fix.title,
                "applicability": fix.applicability,
                "edits": [{"span": edit.span, "text": edit.text} for edit in fix.edits],
            }
            for fix in finding.fixes
        ],
    }


def _place(data: dict[str, Any]) -> Place:
    span = data["span"]
    return Place(data["pointer"], (span[0], span[1]) if span else None, data["on"], data["file"])


def _finding(data: dict[str, Any]) -> Finding:
    return Finding(
        message=data["message"],
        place=_place(data["place"]),
        related=tuple(Related(_place(item["place"]), item["message"]) for item in data["related"]),
        fixes=tuple(
            Fix(
                fix["title"],
                fix["applicability"],
                tuple(TextEdit((edit["span"][0], edit["span"][1]), edit["text"]) for edit in fix["edits"]),
            )
            for fix in data["fixes"]
        ),
        tags=tuple(data["tags"]),
        severity=data["severity"],
        rule=data["rule"],
        category=data["category"],
    )
