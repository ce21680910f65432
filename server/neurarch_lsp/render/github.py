"""Findings as workflow commands, which GitHub shows beside the changed lines."""

from __future__ import annotations

from collections.abc import Iterable

from neurarch_lsp.render.report import FileReport, file_of, range_of

COMMANDS = {"error": "error", "warning": "warning", "info": "notice", "hint": "notice"}


def render(reports: Iterable[FileReport]) -> str:
    lines: list[str] = []
    for report in reports:
        for finding in report.findings:
            (line, column), (end_line, end_column) = range_of(finding.place, report)
            properties = {
                "title": f"neurarch-lsp ({finding.rule})",
                "file": file_of(finding.place, report).removeprefix("./"),
                "line": line,
                "col": column,
                "endLine": end_line,
                "endColumn": end_column,
            }
            shown = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items())
            lines.append(f"::{COMMANDS[finding.severity or 'error']} {shown}::{_data(finding.message)}\n")
    return "".join(lines)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
