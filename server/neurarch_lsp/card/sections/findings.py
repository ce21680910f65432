"""What the rules say about the file, by category, with the repairs they offer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from neurarch_lsp.render.card_blocks import Block, Note, Section, Table

if TYPE_CHECKING:
    from neurarch_rules.engine.finding import Finding


def section(findings: Sequence[Finding]) -> Section:
    blocks: list[Block] = []
    for category in dict.fromkeys(finding.category for finding in findings):
        rows = tuple(
            (finding.severity or "", finding.rule, finding.message, "; ".join(fix.title for fix in finding.fixes))
            for finding in findings
            if finding.category == category
        )
        blocks.append(Table(("severity", "rule", "what", "fix"), rows, caption=category.capitalize()))
    if not blocks:
        blocks.append(Note("Nothing: no rule has a finding.", "good"))
    return Section(
        "findings",
        "What the rules say",
        tuple(blocks),
        {
            "findings": [
                {
                    "rule": finding.rule,
                    "severity": finding.severity,
                    "category": finding.category,
                    "message": finding.message,
                    "pointer": finding.place.pointer,
                    "fixes": [fix.title for fix in finding.fixes],
                }
                for finding in findings
            ]
        },
    )
