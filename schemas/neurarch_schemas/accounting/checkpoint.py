"""What the weight files of a model hold, told apart from what the model class builds."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from neurarch_schemas.surroundings.folder import CheckpointTensor


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """``scalars`` and ``bytes`` of the files, scales and packed weights included as they are stored.

    ``mtp_parameters`` are those of multi-token-prediction modules, which the model class does not build.
    """

    scalars: int
    bytes: int
    mtp_parameters: int
    exact: bool
    reason: str | None


BITS = {
    "F64": 64, "F32": 32, "F16": 16, "BF16": 16, "F8_E4M3": 8, "F8_E5M2": 8, "F8_E8M0": 8, "F4": 4,
    "I64": 64, "I32": 32, "I16": 16, "I8": 8, "U64": 64, "U32": 32, "U16": 16, "U8": 8, "BOOL": 8,
}  # fmt: skip
"""Bits of an element by safetensors dtype name."""


def stored_checkpoint(tensors: tuple[CheckpointTensor, ...]) -> Checkpoint | None:
    """Sums over safetensors headers; None when only names are known (an index without its shards)."""
    scalars = bits = 0
    for tensor in tensors:
        if tensor.shape is None or tensor.dtype not in BITS:
            return None
        scalars += prod(tensor.shape)
        bits += prod(tensor.shape) * BITS[tensor.dtype]
    return Checkpoint(scalars, -(-bits // 8), 0, exact=True, reason=None)
