from __future__ import annotations

from collections.abc import Iterator, Sequence

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Place, Related
from neurarch_rules.engine.rule import RuleInfo
from neurarch_schemas.accounting.checkpoint_match import CheckpointMatch
from neurarch_schemas.accounting.checkpoint_names import layer_index

RULE = RuleInfo(
    name="checkpoint-mismatch",
    severity="warning",
    category="correctness",
    summary="The weight files beside the config hold other tensors than the model class builds",
    when="checkpoint",
)

SHOWN = 3
LEAST_SHARE = 0.5
"""Files that hold less than half of the model are an excerpt, a shard or another model: there is nothing to compare."""

TOWERS = ("vision", "visual", "audio", "projector")


def check(context: Context) -> Iterator[Finding]:
    """Layers of one side only are left to ``layer-count-vs-checkpoint``, a missing head to ``tie-vs-checkpoint``."""
    tensors = context.analysis.folder.checkpoint
    found = context.analysis.checkpoint_match if tensors else None
    if found is None or found.agrees or not tensors:
        return
    stored_layers = [index for tensor in tensors if (index := layer_index(tensor.name)) is not None]
    last = max(stored_layers, default=-1)
    missing = [
        name
        for name in found.missing
        if not ((index := layer_index(name)) is not None and index > last)
        and not name.startswith(("lm_head", "embed_out"))
    ]
    if len([name for name in missing if not _is_tower(name)]) > LEAST_SHARE * len(tensors):
        return
    file = next((name for name in sorted(context.analysis.folder.listing or ()) if name.endswith(".index.json")), None)
    place = Place("/architectures", on="key")
    delta = _delta(found)
    for shape in found.wrong_shape[:SHOWN]:
        yield Finding(
            f"{shape.name} has shape {_shape(shape.stored)} in the checkpoint, this config builds "
            f"{_shape(shape.expected)}: loading fails{delta}",
            place,
            (Related(Place("", file=file), f"{len(found.wrong_shape)} tensors have another shape here"),)
            if file
            else (),
            severity="error",
        )
    if missing:
        yield Finding(
            f"{len(missing)} tensors that this config builds are not in the checkpoint ({_names(missing)}): "
            f"they start from random numbers{delta}",
            place,
        )
    if found.unexpected:
        yield Finding(
            f"{len(found.unexpected)} tensors of the checkpoint have no place in the model this config builds "
            f"({_names(found.unexpected)}): they are thrown away on load{delta}",
            place,
        )


def _is_tower(name: str) -> bool:
    """A whole tower is missing where the weights are those of the text model alone."""
    return any(part in name for part in TOWERS)


def _delta(found: CheckpointMatch) -> str:
    if found.stored_scalars is None or found.quantized or found.stored_scalars == found.expected_scalars:
        return ""
    difference = found.stored_scalars - found.expected_scalars
    return f" ({found.stored_scalars:,} scalars stored, {found.expected_scalars:,} expected, {difference:+,})"


def _names(names: Sequence[str]) -> str:
    return ", ".join(names[:SHOWN]) + (", ..." if len(names) > SHOWN else "")


def _shape(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape)) or "scalar"
