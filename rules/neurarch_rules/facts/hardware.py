"""GPU memory from the serving settings."""

from __future__ import annotations

import re

from neurarch_rules.engine.options import Serving


def gpu_memory_gib(serving: Serving) -> float | None:
    """Memory of one GPU: ``gpu-memory-gib``, else what the name says ("H100-80GB"), else what the device of that name
    has ("L40S")."""
    if serving.gpu_memory_gib is not None:
        return serving.gpu_memory_gib
    if serving.gpu is None:
        return None
    stated = re.search(r"(\d+)\s*G(?:i?B)?\b", serving.gpu, re.IGNORECASE)
    if stated:
        return float(stated[1])
    from neurarch_schemas.accounting.hardware import find_device

    known = find_device(re.sub("^nvidia|^amd", "", serving.gpu.strip(), flags=re.IGNORECASE))
    return None if known is None else known.memory_bytes / (1 << 30)


def gpu_count(serving: Serving) -> int:
    return serving.gpus or (serving.tensor_parallel or 1) * (serving.pipeline_parallel or 1)


def memory_bytes(serving: Serving) -> int | None:
    """Memory of all GPUs together; None when nobody says."""
    one = gpu_memory_gib(serving)
    return None if one is None else int(one * gpu_count(serving) * (1 << 30))
