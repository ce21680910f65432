"""Findings as a GitLab code quality report."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from neurarch_lsp.render.report import FileReport, file_of, range_of
from neurarch_lsp.render.sarif import fingerprint

SEVERITIES = {"error": "critical", "warning": "major", "info": "minor", "hint": "info"}


def render(reports: Iterable[FileReport]) -> str:
    entries: list[dict[str, Any]] = []
    seen: dict[str, int] = {}
    for report in reports:
        for finding in report.findings:
            (begin, _), (end, _) = range_of(finding.place, report)
            print_ = fingerprint(finding, report)
            seen[print_] = seen.get(print_, 0) + 1
            entries.append(
                {
                    "description": f"{finding.rule}: {finding.message}",
                    "check_name": finding.rule,
                    "fingerprint": print_ if seen[print_] == 1 else f"{print_}-{seen[print_]}",
                    "severity": SEVERITIES[finding.severity or "error"],
                    "location": {
                        "path": file_of(finding.place, report).removeprefix("./"),
                        "lines": {"begin": begin, "end": end},
                    },
                }
            )
    return json.dumps(entries, indent=2) + "\n"
