"""One line a finding."""

from __future__ import annotations

from collections.abc import Iterable

from neurarch_lsp.render.report import FileReport, file_of, range_of
from neurarch_lsp.render.style import Style


def render(reports: Iterable[FileReport], style: Style) -> str:
    lines: list[str] = []
    for report in reports:
        for finding in report.findings:
            (line, column), _ = range_of(finding.place, report)
            severity = finding.severity or "error"
            place = f"{style.bold(file_of(finding.place, report))}:{line}:{column}:"
            fixable = f" {style.dim('[*]')}" if any(fix.applicability == "safe" for fix in finding.fixes) else ""
            lines.append(f"{place} {style.severity(severity, severity)}[{finding.rule}]{fixable} {finding.message}\n")
    return "".join(lines)
