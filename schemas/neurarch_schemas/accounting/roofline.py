"""Bounds on speed: no device computes faster than its peak or reads faster than its memory (Williams et al. 2009)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from neurarch_schemas.accounting.hardware import Device
from neurarch_schemas.accounting.quantization.plan import listed_algorithms
from neurarch_schemas.documents.json_value import JSONValue
from neurarch_schemas.record import Record

Limit = Literal["compute", "memory bandwidth"]


NARROW = (
    ("nvfp4", "float4_e2m1fn_x2"),
    ("fp8", "float8_e4m3fn"),
    ("float-quantized", "float8_e4m3fn"),
    ("int-quantized", "int8"),
)
"""Marks of quantizations whose kernels may compute in a narrow type, the narrowest first; others only store so."""

WEIGHTS_ONLY = ("w4a16", "mxfp4")
"""Marks of formats whose activations stay in 16 bits: MXFP4 is that of gpt-oss, whose card asks for bfloat16."""


class Bound(Record):
    """The least seconds a piece of work takes, and what limits it."""

    seconds: float
    limit: Limit


def bound(device: Device, operations: int, moved_bytes: int, dtype: str, devices: int = 1) -> Bound:
    """``operations`` at the peak of ``dtype`` against ``moved_bytes`` at full bandwidth, spread over ``devices``."""
    compute = operations / (device.peak(dtype) * devices)
    memory = moved_bytes / (device.bandwidth_bytes * devices)
    return Bound(max(compute, memory), "compute" if compute >= memory else "memory bandwidth")


def compute_dtype(quantization: Mapping[str, JSONValue] | None) -> str:
    """The narrowest type the matrices of a checkpoint may be multiplied in, by its ``quantization_config``."""
    if quantization is None:
        return "bfloat16"
    marks = [quantization.get(key) for key in ("quant_method", "quant_algo", "format")]
    listed = quantization.get("quantized_layers")
    if isinstance(listed, dict):
        marks += listed_algorithms(listed)
    groups = quantization.get("config_groups")
    each = [group for group in groups.values() if isinstance(group, dict)] if isinstance(groups, dict) else []
    if each and not any(group.get("input_activations") for group in each):
        return "bfloat16"
    words = [mark for mark in (str(mark).lower() for mark in marks) if not any(word in mark for word in WEIGHTS_ONLY)]
    return next((dtype for mark, dtype in NARROW if any(mark in word for word in words)), "bfloat16")
