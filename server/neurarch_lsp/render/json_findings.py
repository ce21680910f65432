"""Findings as JSON: the contract other tools rely on. Extend it, never rename."""

from __future__ import annotations

from collections.abc import Iterable
from json.encoder import encode_basestring_ascii
from typing import Any

from neurarch_lsp.render.report import FileReport, Position, file_of, range_of, range_of_span, rule_url
from neurarch_rules.engine.finding import Finding, Fix, Related


def render(reports: Iterable[FileReport]) -> str:
    return _indented([entry(finding, report) for report in reports for finding in report.findings], "\n") + "\n"


def _indented(value: object, line: str) -> str:
    """As ``json.dumps`` with an indent of 2, in a third of its time; ``line`` begins a line at the value's level."""
    if isinstance(value, str):
        return encode_basestring_ascii(value)
    if isinstance(value, dict):
        inner = line + "  "
        pairs = [f"{encode_basestring_ascii(key)}: {_indented(item, inner)}" for key, item in value.items()]
        return f"{{{inner}{f',{inner}'.join(pairs)}{line}}}"
    if isinstance(value, list):
        inner = line + "  "
        return f"[{inner}{f',{inner}'.join([_indented(item, inner) for item in value])}{line}]" if value else "[]"
    return "null" if value is None else str(value)


def entry(finding: Finding, report: FileReport) -> dict[str, Any]:
    return {
        "file": file_of(finding.place, report),
        "rule": finding.rule,
        "severity": finding.severity,
        "category": finding.category,
        "message": finding.message,
        "url": rule_url(finding.rule),
        "range": _range(range_of(finding.place, report)),
        "pointer": finding.place.pointer,
        "related": [_related(related, report) for related in finding.related],
        "fixes": [_fix(fix, report) for fix in finding.fixes],
    }


def _related(related: Related, report: FileReport) -> dict[str, Any]:
    return {
        "file": file_of(related.place, report),
        "range": _range(range_of(related.place, report)),
        "pointer": related.place.pointer,
        "message": related.message,
    }


def _fix(fix: Fix, report: FileReport) -> dict[str, Any]:
    return {
        "title": fix.title,
        "applicability": fix.applicability,
        "edits": [
            {
                "file": report.file,
                "range": _range(range_of_span(edit.span, report.document)),
                "new_text": edit.text,
            }
            for edit in fix.edits
        ],
    }


def _range(positions: tuple[Position, Position]) -> dict[str, dict[str, int]]:
    (start_line, start_column), (end_line, end_column) = positions
    return {
        "start": {"line": start_line, "column": start_column},
        "end": {"line": end_line, "column": end_column},
    }
