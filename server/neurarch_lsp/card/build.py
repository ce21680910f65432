"""From what is known about a file to its card."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from neurarch_lsp.card.adapter_base import with_known_base
from neurarch_lsp.card.assumptions import Assumptions
from neurarch_lsp.card.profile import profile
from neurarch_lsp.card.sections import (
    adapter,
    cache,
    checkpoint,
    fields,
    head,
    parts,
    serving,
    similar,
    structure,
    training,
)
from neurarch_lsp.card.sections import (
    findings as rule_findings,
)
from neurarch_lsp.render.card_blocks import Card, Note, Section

if TYPE_CHECKING:
    from neurarch_rules.engine.finding import Finding
    from neurarch_schemas.analysis import Analysis

USUAL_NAMES = frozenset({"config.json", "adapter_config.json", "generation_config.json", "params.json"})


def build_card(
    file: str, analysis: Analysis, findings: Sequence[Finding] = (), assumed: Assumptions | None = None
) -> Card:
    """Sections that have nothing to say are left out; a file without numbers says why."""
    assumed = assumed or Assumptions()
    analysis = with_known_base(analysis.informed)
    config = analysis.config
    kind = " ".join(part for part in (config.model_type, config.architecture) if part) if config else analysis.kind
    sections: list[Section | None]
    found = profile(analysis)
    if analysis.adapter is not None:
        sections = [adapter.section(analysis)]
    elif found is None:
        reason = analysis.built.reason or "the tensors are not known"
        sections = [Section("head", "Model", (Note(f"No numbers: {reason}.", "notice"),), {"reason": reason})]
    else:
        sections = [
            head.section(analysis, found),
            cache.section(analysis, assumed),
            checkpoint.section(analysis, found),
            parts.section(analysis),
            structure.section(analysis, assumed),
            training.section(analysis, assumed),
            serving.section(analysis, assumed),
            similar.section(analysis, assumed),
        ]
    sections += [rule_findings.section(findings), fields.section(analysis, findings)]
    return Card(name_of(file), kind, tuple(section for section in sections if section is not None))


def name_of(file: str) -> str:
    """The folder that a file of a usual name lies in, else the file's own name."""
    folder, name = os.path.split(os.path.abspath(file)) if file != "-" else ("", "standard input")
    return os.path.basename(folder) if name in USUAL_NAMES and os.path.basename(folder) else name
