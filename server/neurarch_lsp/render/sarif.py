"""Findings as SARIF 2.1.0, with fixes and fingerprints that survive edits elsewhere in the file."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from neurarch_lsp.render.report import FileReport, Position, file_of, range_of, range_of_span, rule_url
from neurarch_rules.engine import discovery
from neurarch_rules.engine.finding import Finding, Fix, Place, Related

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
DRIVE = re.compile("[A-Za-z]:/")
LEVELS = {"error": "error", "warning": "warning", "info": "note", "hint": "note"}
"""SARIF keeps "none" for results that are no failure at all."""


def render(reports: Iterable[FileReport]) -> str:
    from neurarch_schemas import __version__

    pairs = [(finding, report) for report in reports for finding in report.findings]
    names = sorted({finding.rule for finding, _ in pairs})
    run = {
        "tool": {
            "driver": {
                "name": "neurarch-lsp",
                "version": __version__,
                "informationUri": "https://github.com/neurarch-ai/neurarch-lsp",
                "rules": [_rule(name) for name in names],
            }
        },
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, report, names) for finding, report in pairs],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(name: str) -> dict[str, Any]:
    rule = discovery.find(name)
    entry: dict[str, Any] = {"id": name, "helpUri": rule_url(name)}
    if rule is not None:
        entry["shortDescription"] = {"text": rule.RULE.summary}
        entry["defaultConfiguration"] = {"level": LEVELS[rule.RULE.severity]}
        entry["properties"] = {"category": rule.RULE.category}
    return entry


def _result(finding: Finding, report: FileReport, names: list[str]) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": names.index(finding.rule),
        "level": LEVELS[finding.severity or "error"],
        "message": {"text": finding.message},
        "locations": [_location(finding.place, report)],
        "partialFingerprints": {"neurarch/v1": fingerprint(finding, report)},
    }
    if finding.related:
        result["relatedLocations"] = [_related(item, report) for item in finding.related]
    if finding.fixes:
        result["fixes"] = [_fix(fix, report) for fix in finding.fixes]
    return result


def fingerprint(finding: Finding, report: FileReport) -> str:
    """By file, rule, pointer and message: the same after edits elsewhere in the file."""
    parts = (report.file, finding.rule, finding.place.pointer or "", finding.message)
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _location(place: Place, report: FileReport) -> dict[str, Any]:
    return {
        "physicalLocation": {
            "artifactLocation": {"uri": _uri(file_of(place, report))},
            "region": _region(range_of(place, report)),
        }
    }


def _related(related: Related, report: FileReport) -> dict[str, Any]:
    return {**_location(related.place, report), "message": {"text": related.message}}


def _fix(fix: Fix, report: FileReport) -> dict[str, Any]:
    return {
        "description": {"text": fix.title},
        "artifactChanges": [
            {
                "artifactLocation": {"uri": _uri(report.file)},
                "replacements": [
                    {
                        "deletedRegion": _region(range_of_span(edit.span, report.document)),
                        "insertedContent": {"text": edit.text},
                    }
                    for edit in fix.edits
                ],
            }
        ],
    }


def _region(positions: tuple[Position, Position]) -> dict[str, int]:
    (start_line, start_column), (end_line, end_column) = positions
    return {"startLine": start_line, "startColumn": start_column, "endLine": end_line, "endColumn": end_column}


def _uri(file: str) -> str:
    """A relative reference; an absolute path as a file URI. A colon in a relative path would look like a scheme."""
    path = file.replace("\\", "/").removeprefix("./")
    if path.startswith("/"):
        return "file://" + quote(path)
    if DRIVE.match(path):
        return "file:///" + quote(path, safe="/:")
    return quote(path)
