"""What is derived against what the files beside the config hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neurarch_lsp.render.card_blocks import Block, Facts, Note, Section
from neurarch_schemas.accounting.checkpoint import quantization_fields
from neurarch_schemas.accounting.quantities import decimal_bytes

if TYPE_CHECKING:
    from neurarch_lsp.card.profile import Profile
    from neurarch_schemas.analysis import Analysis


def section(analysis: Analysis, found: Profile) -> Section | None:
    counted, weights = analysis.parameters, analysis.weights
    if counted is None or weights is None:
        return None
    checkpoint = analysis.checkpoint
    rows = [
        ("Derived parameters", f"{counted.total:,}"),
        ("Derived scalars with buffers", f"{counted.stored:,}"),
        (
            "Plain weights",
            f"{decimal_bytes(weights.bytes)} in {weights.dtype}"
            + (", assumed: the file names no dtype" if weights.dtype_origin == "assumed" else ""),
        ),
    ]
    data: dict[str, object] = {
        "derived": counted.stored,
        "checkpoint": None,
        "delta": None,
        "delta_percent": None,
        "scale_scalars": None,
        "mtp_parameters": None,
    }
    notes: list[Block] = []
    if checkpoint is None:
        notes.append(Note("No checkpoint lies beside the config."))
    elif checkpoint.scalars is None or checkpoint.bytes is None:
        notes.append(Note(f"What the files will hold is not known: {checkpoint.reason}."))
    else:
        scales = checkpoint.scale_scalars or 0
        delta = checkpoint.scalars - counted.stored - (checkpoint.mtp_parameters or 0) - scales
        percent = 100 * delta / counted.stored if counted.stored else 0.0
        data.update(
            checkpoint=checkpoint.scalars,
            delta=delta,
            delta_percent=percent,
            scale_scalars=checkpoint.scale_scalars,
        )
        rows.append(("Checkpoint", f"{checkpoint.scalars:,} scalars, {decimal_bytes(checkpoint.bytes)}"))
        if scales:
            rows.append(("Scales and metadata", f"{scales:,} of these scalars"))
        rows.append(
            ("Delta", f"{delta:+,} scalars ({percent:+.4f} %)" + (" without scales and metadata" if scales else ""))
        )
        if not checkpoint.exact:
            notes.append(Note(f"Estimated: {checkpoint.reason}.", "notice"))
        if delta and analysis.config is not None and quantization_fields(analysis.config) is not None:
            notes.append(
                Note(
                    "The checkpoint is quantized: several weights share one stored number, so the two counts measure "
                    "different things."
                )
            )
    if checkpoint is not None and checkpoint.mtp_parameters:
        data["mtp_parameters"] = checkpoint.mtp_parameters
        rows.append(("MTP modules", f"{checkpoint.mtp_parameters:,} parameters besides"))
    elif found.mtp_modules:
        rows.append(("MTP modules", f"{found.mtp_modules} declared, not built by the model class"))
    return Section("checkpoint", "Count against the checkpoint", (Facts(tuple(rows)), *notes), data)
