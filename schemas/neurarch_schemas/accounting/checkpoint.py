"""What the weight files of a model hold, told apart from what the model class builds."""

from __future__ import annotations

from math import prod

from neurarch_schemas.accounting.checkpoint_names import SCALES
from neurarch_schemas.accounting.weights import weights_dtype
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.documents.json_value import JSONValue
from neurarch_schemas.modules.tree import Module, Part
from neurarch_schemas.record import Record
from neurarch_schemas.surroundings.folder import CheckpointTensor


class Checkpoint(Record):
    """``scalars`` and ``bytes`` of the files, scales and packed weights included as they are stored.

    ``mtp_parameters`` are those of multi-token-prediction modules, which the model class does not build.
    None: not known.
    """

    scalars: int | None
    bytes: int | None
    mtp_parameters: int | None
    exact: bool
    reason: str | None
    scale_scalars: int | None = None
    """Of ``scalars``, those of scales, zero points and other metadata of a quantization."""
    part_bytes: tuple[tuple[Part, int], ...] = ()
    """``bytes`` by part of the network, where they are derived."""


BITS = {
    "F64": 64, "F32": 32, "F16": 16, "BF16": 16, "F8_E4M3": 8, "F8_E5M2": 8, "F8_E8M0": 8, "F4": 4,
    "I64": 64, "I32": 32, "I16": 16, "I8": 8, "U64": 64, "U32": 32, "U16": 16, "U8": 8, "BOOL": 8,
}  # fmt: skip
"""Bits of an element by safetensors dtype name."""


def stored_checkpoint(tensors: tuple[CheckpointTensor, ...]) -> Checkpoint | None:
    """Sums over safetensors headers; None when only names are known (an index without its shards)."""
    scalars = bits = scales = 0
    for tensor in tensors:
        if tensor.shape is None or tensor.dtype not in BITS:
            return None
        scalars += prod(tensor.shape)
        bits += prod(tensor.shape) * BITS[tensor.dtype]
        if SCALES.search(tensor.name):
            scales += prod(tensor.shape)
    return Checkpoint(scalars, -(-bits // 8), 0, exact=True, reason=None, scale_scalars=scales)


def predicted_checkpoint(tree: Module, config: ModelConfig) -> Checkpoint | None:
    """What the files will hold by ``quantization_config``; None for a model that is not quantized."""
    written = quantization_fields(config)
    if written is None:
        return None
    from neurarch_schemas.accounting.quantization.plan import read_plan
    from neurarch_schemas.accounting.quantization.predict import predict

    plan = read_plan(written)
    if isinstance(plan, str):
        return Checkpoint(None, None, None, exact=False, reason=plan)
    found = predict(tree, plan, weights_dtype(config)[0])
    if found is None:
        return Checkpoint(None, None, None, exact=False, reason="the model has too many layers to look up one by one")
    schemes = ", ".join(f"{count:,} matrices in {name}" for name, count in found.schemes) or "no matrix matches"
    reason = (
        f"derived from quantization_config ({schemes}; {found.scale_scalars:,} scalars of scales and metadata); "
        "no weight files lie beside the config"
    )
    return Checkpoint(
        found.scalars,
        found.bytes,
        None,
        exact=False,
        reason=reason,
        scale_scalars=found.scale_scalars,
        part_bytes=found.part_bytes,
    )


def quantization_fields(config: ModelConfig) -> dict[str, JSONValue] | None:
    """``quantization_config`` of the model or of its text config."""
    for source in (config, *config.nested.values()):
        written = source.get("quantization_config")
        if isinstance(written, dict) and written:
            return written
    return None
