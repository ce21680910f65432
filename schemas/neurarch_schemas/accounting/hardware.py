"""The accelerators a model may be fitted to: memory, bandwidth, peak rates; the data, dated, is hardware.json."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache

from neurarch_schemas.record import Record

USABLE_HOST_MEMORY = 0.75
"""Share of unified memory a GPU may use: macOS's default working-set limit on machines with more than 36 GB."""


WIDER = ("bfloat16", "float16", "float32")


class Device(Record):
    """``memory_bytes`` are usable by a model, ``peak_flops`` operations a second by torch dtype, without sparsity."""

    name: str
    vendor: str
    memory_bytes: int
    bandwidth_bytes: float
    peak_flops: Mapping[str, float]
    usd_per_hour: float | None
    source: str

    def peak(self, dtype: str) -> float:
        """Operations a second in ``dtype``; a device without the format computes in 16 bits."""
        return self.peak_flops.get(self.computes(dtype)) or max(self.peak_flops.values())

    def computes(self, dtype: str) -> str:
        """The type itself, or 16 bits: kernels widen the weights of a format that the device lacks to these."""
        wider = (dtype, *(other for other in WIDER if other != dtype))
        return next((candidate for candidate in wider if candidate in self.peak_flops), dtype)


@cache
def devices() -> tuple[Device, ...]:
    import json

    with open(os.path.join(os.path.dirname(__file__), "hardware.json"), encoding="utf-8") as stream:
        data = json.load(stream)
    return tuple(_device(entry) for entry in data["devices"])


def find_device(name: str) -> Device | None:
    """By name, whatever the case and separators: "h100 80gb" is H100-80GB; "H100" the first whose name begins so."""
    wanted = _plain(name)
    for device in devices():
        if _plain(device.name) == wanted:
            return device
    return next((device for device in devices() if wanted and _plain(device.name).startswith(wanted)), None)


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())


def _device(entry: Mapping[str, object]) -> Device:
    memory, bandwidth, peaks, price = (
        entry["memory_mib"],
        entry["bandwidth_gb_s"],
        entry["peak_tflops"],
        entry["usd_per_hour"],
    )
    assert isinstance(memory, int)
    assert isinstance(bandwidth, int | float)
    assert isinstance(peaks, dict)
    assert price is None or isinstance(price, int | float)
    usable = memory * (1 << 20)
    if entry.get("host_memory"):
        usable = int(usable * USABLE_HOST_MEMORY)
    return Device(
        str(entry["name"]),
        str(entry["vendor"]),
        usable,
        bandwidth * 1e9,
        {dtype: rate * 1e12 for dtype, rate in peaks.items()},
        price,
        str(entry["source"]),
    )
