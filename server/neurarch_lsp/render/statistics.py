"""Counts per rule, and where the time went."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable

from neurarch_lsp.render.report import FileReport


def statistics(reports: Iterable[FileReport], as_json: bool = False) -> str:
    """Findings per rule and severity, most frequent first, with the number that --fix repairs."""
    counts: Counter[tuple[str, str]] = Counter()
    fixable: Counter[str] = Counter()
    for report in reports:
        for finding in report.findings:
            counts[finding.rule, finding.severity or "error"] += 1
            fixable[finding.rule] += any(fix.applicability == "safe" for fix in finding.fixes)
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    if as_json:
        entries = [
            {"rule": rule, "severity": severity, "count": count, "fixable": fixable[rule] > 0}
            for (rule, severity), count in ordered
        ]
        return json.dumps(entries, indent=2) + "\n"
    width = max((len(str(count)) for _, count in ordered), default=1)
    return "".join(
        f"{count:>{width}}  {severity:<8}{rule}{' [*]' if fixable[rule] else ''}\n"
        for (rule, severity), count in ordered
    )


def timing(seconds: Iterable[tuple[str, float]]) -> str:
    """Milliseconds per rule over all files; what most rules share has lines of its own."""
    total: Counter[str] = Counter()
    calls: Counter[str] = Counter()
    slowest: dict[str, float] = {}
    for rule, spent in seconds:
        total[rule] += spent  # type: ignore[assignment]  # a Counter of floats
        calls[rule] += 1
        slowest[rule] = max(slowest.get(rule, 0.0), spent)
    rows = sorted(total.items(), key=lambda item: -item[1])
    lines = [f"{'total ms':>9}  {'worst ms':>9}  {'files':>6}  rule\n"]
    lines += (
        f"{spent * 1000:9.2f}  {slowest[rule] * 1000:9.2f}  {calls[rule]:6}  {rule}\n" for rule, spent in rows if spent
    )
    return "".join(lines)
