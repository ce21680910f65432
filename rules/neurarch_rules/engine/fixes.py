"""Applying fixes: non-overlapping edits in one pass, then lint again, until nothing changes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from neurarch_rules.engine.finding import Applicability, Finding, Fix
from neurarch_schemas.documents.document import TextEdit
from neurarch_schemas.record import Record

MAX_ROUNDS = 10
"""Fixes that keep undoing each other stop here; a run that needs more is a defect in a rule."""


SAFE: tuple[Applicability, ...] = ("safe",)


class Fixed(Record):
    """``applied`` are the titles of the fixes in the order they were made."""

    text: str
    applied: tuple[str, ...]
    settled: bool
    """False when the cap on rounds ended the loop."""


def apply_edits(text: str, edits: Iterable[TextEdit]) -> str:
    """The text with all edits made. Raises ValueError when two of them overlap."""
    pieces: list[str] = []
    position = 0
    for edit in sorted(edits, key=lambda edit: edit.span):
        start, end = edit.span
        if start < position:
            raise ValueError(f"edits overlap at offset {start}")
        pieces += (text[position:start], edit.text)
        position = end
    pieces.append(text[position:])
    return "".join(pieces)


def choose(findings: Iterable[Finding], applicabilities: Collection[Applicability]) -> tuple[Fix, ...]:
    """The first applicable fix of each finding, leaving out those that touch an edit already chosen."""
    chosen: list[Fix] = []
    taken: list[tuple[int, int]] = []
    for finding in findings:
        fix = next((fix for fix in finding.fixes if fix.applicability in applicabilities), None)
        if fix is None or fix in chosen:
            continue
        spans = [edit.span for edit in fix.edits]
        if any(_touch(span, other) for span in spans for other in taken):
            continue
        chosen.append(fix)
        taken += spans
    return tuple(chosen)


def fix_text(
    text: str,
    lint: Callable[[str], Iterable[Finding]],
    applicabilities: Collection[Applicability] = SAFE,
    rounds: int = MAX_ROUNDS,
) -> Fixed:
    """Apply, lint the result, and again, until no applicable fix is left (or ``rounds`` is reached)."""
    applied: list[str] = []
    for _ in range(rounds):
        fixes = choose(lint(text), applicabilities)
        changed = apply_edits(text, (edit for fix in fixes for edit in fix.edits))
        if changed == text:
            return Fixed(text, tuple(applied), True)
        text = changed
        applied += (fix.title for fix in fixes)
    return Fixed(text, tuple(applied), not choose(lint(text), applicabilities))


def _touch(first: tuple[int, int], second: tuple[int, int]) -> bool:
    """Overlap, or an insertion at the border of another edit: the order would not be defined."""
    return first[0] <= second[1] and second[0] <= first[1]
