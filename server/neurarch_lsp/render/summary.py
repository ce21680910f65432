"""The line at the end of a run: how much was found and what can be repaired."""

from __future__ import annotations

from collections.abc import Iterable

from neurarch_lsp.render.report import FileReport
from neurarch_rules.engine.selection import ORDER

PLURAL = {"error": "errors", "warning": "warnings", "info": "infos", "hint": "hints"}


def summary(reports: Iterable[FileReport], files: int) -> str:
    findings = [finding for report in reports for finding in report.findings]
    if not findings:
        return f"All clear: {files} {'file' if files == 1 else 'files'} checked.\n"
    counts = [(severity, sum(finding.severity == severity for finding in findings)) for severity in ORDER]
    parts = [f"{count} {severity if count == 1 else PLURAL[severity]}" for severity, count in counts if count]
    fixable = sum(any(fix.applicability == "safe" for fix in finding.fixes) for finding in findings)
    tail = f"; {fixable} fixable with --fix" if fixable else ""
    return f"Found {', '.join(parts)} in {files} {'file' if files == 1 else 'files'}{tail}.\n"
