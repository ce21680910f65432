"""What a LoRA adapter adds and trains, against its base model."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from neurarch_lsp.card.adapter_base import BASE, base_name
from neurarch_lsp.card.sections.fields import compact
from neurarch_lsp.render.card_blocks import Facts, Note, Section
from neurarch_schemas.accounting.quantities import count, decimal_bytes

if TYPE_CHECKING:
    from neurarch_schemas.analysis import Analysis
    from neurarch_schemas.documents.json_value import JSONValue

BYTES = 4
"""Of a trained scalar as PEFT saves it from float32 training; half of that from 16-bit weights."""
SHOWN = 200


def section(analysis: Analysis) -> Section | None:
    found, base, written = analysis.adapter, analysis.base, analysis.document.data
    if found is None or not isinstance(written, dict):
        return None
    data = {"trainable": found.trainable, "modules": found.modules, "exact": found.exact, "reason": found.reason}
    rows = [("Method", str(written.get("peft_type") or "not named"))]
    rank, alpha = written.get("r"), written.get("lora_alpha")
    if isinstance(rank, int) and not isinstance(rank, bool) and rank > 0:
        rows.append(("Rank", f"{rank:,}"))
        if isinstance(alpha, int | float):
            root = written.get("use_rslora") is True
            scale = alpha / (math.sqrt(rank) if root else rank)
            rows.append(("Scaling", f"{scale:g}: alpha {alpha:g} over {'the root of ' if root else ''}the rank"))
    for label, key in (("Targets", "target_modules"), ("Trained whole", "modules_to_save")):
        if written.get(key):
            rows.append((label, _names(written[key])))
    if base is not None and base.parameters is not None and base.config is not None:
        source = ", by its published config" if BASE in analysis.folder.json_files else ""
        rows.append(("Base", f"{base.config.model_type}, {count(base.parameters.total)} parameters{source}"))
        if found.trainable is not None:
            share = 100 * found.trainable / max(base.parameters.total, 1)
            rows.append(
                (
                    "Trainable",
                    f"{found.trainable:,} parameters on {found.modules:,} modules ({share:.3f} % of the base), "
                    f"{decimal_bytes(BYTES * found.trainable)} in float32",
                )
            )
    elif (name := base_name(analysis)) is not None:
        rows.append(("Base", f"{name}, not at hand"))
    notes: tuple[Note, ...] = ()
    if found.trainable is None:
        notes = (Note(f"Trainable parameters are not known: {found.reason}.", "notice"),)
    elif found.reason is not None:
        notes = (Note(f"Not exact: {found.reason}.", "notice"),)
    return Section("adapter", "Adapter", (Facts(tuple(rows)), *notes), data)


def _names(value: JSONValue) -> str:
    names = [name for name in value if isinstance(name, str)] if isinstance(value, list) else []
    if names:
        return ", ".join(sorted(names))
    return compact(value, SHOWN)
