"""Bounds on speed: no device computes faster than its peak or reads faster than its memory (Williams et al. 2009)."""

from __future__ import annotations

from typing import Literal

from neurarch_schemas.accounting.hardware import Device
from neurarch_schemas.record import Record

Limit = Literal["compute", "memory bandwidth"]


class Bound(Record):
    """The least seconds a piece of work takes, and what limits it."""

    seconds: float
    limit: Limit


def bound(device: Device, operations: int, moved_bytes: int, dtype: str, devices: int = 1) -> Bound:
    """``operations`` at the peak of ``dtype`` against ``moved_bytes`` at full bandwidth, spread over ``devices``."""
    compute = operations / (device.peak(dtype) * devices)
    memory = moved_bytes / (device.bandwidth_bytes * devices)
    return Bound(max(compute, memory), "compute" if compute >= memory else "memory bandwidth")
