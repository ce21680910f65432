"""What a LoRA adapter trains, against its base model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neurarch_lsp.render.card_blocks import Facts, Note, Section
from neurarch_schemas.accounting.quantities import count

if TYPE_CHECKING:
    from neurarch_schemas.analysis import Analysis


def section(analysis: Analysis) -> Section | None:
    found, base = analysis.adapter, analysis.base
    if found is None:
        return None
    data = {"trainable": found.trainable, "modules": found.modules, "exact": found.exact, "reason": found.reason}
    if found.trainable is None:
        return Section(
            "adapter", "Adapter", (Note(f"Trainable parameters are not known: {found.reason}.", "notice"),), data
        )
    rows = [("Trainable", f"{found.trainable:,} parameters on {found.modules:,} modules")]
    if base is not None and base.parameters is not None and base.config is not None:
        share = 100 * found.trainable / max(base.parameters.total, 1)
        rows.append(
            ("Base", f"{base.config.model_type}, {count(base.parameters.total)} parameters: {share:.3f} % of them")
        )
    notes = () if found.reason is None else (Note(f"Not exact: {found.reason}.", "notice"),)
    return Section("adapter", "Adapter", (Facts(tuple(rows)), *notes), data)
