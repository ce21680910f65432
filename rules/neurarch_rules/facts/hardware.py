"""GPU memory from the serving settings."""

from __future__ import annotations

import re
from types import MappingProxyType

from neurarch_rules.engine.options import Serving

GIB = MappingProxyType(
    {"T4": 16, "V100": 16, "L4": 24, "A10": 24, "A30": 24, "A40": 48, "L40": 48, "L40S": 48, "A100": 40, "H100": 80}
    | {"H20": 96, "H200": 141, "B200": 180, "GB200": 186, "B300": 288, "MI250": 128, "MI300X": 192, "MI325X": 256}
    | {"MI355X": 288, "GH200": 96, "RTX3090": 24, "RTX4090": 24, "RTX5090": 32, "RTX6000": 48}
)
"""Memory of one GPU as vendors name it (decimal names, close to GiB of usable memory)."""


def gpu_memory_gib(serving: Serving) -> float | None:
    """Memory of one GPU: ``gpu-memory-gib``, else from the name ("H100-80GB" says it, "L40S" is known)."""
    if serving.gpu_memory_gib is not None:
        return serving.gpu_memory_gib
    if serving.gpu is None:
        return None
    stated = re.search(r"(\d+)\s*G(?:i?B)?\b", serving.gpu, re.IGNORECASE)
    if stated:
        return float(stated[1])
    name = re.sub(r"[^A-Z0-9]", "", serving.gpu.upper().removeprefix("NVIDIA"))
    known = GIB.get(name)
    return None if known is None else float(known)


def gpu_count(serving: Serving) -> int:
    return serving.gpus or (serving.tensor_parallel or 1) * (serving.pipeline_parallel or 1)


def memory_bytes(serving: Serving) -> int | None:
    """Memory of all GPUs together; None when nobody says."""
    one = gpu_memory_gib(serving)
    return None if one is None else int(one * gpu_count(serving) * (1 << 30))
