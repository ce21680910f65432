from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Place
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.hardware import gpu_count, gpu_memory_gib, memory_bytes
from neurarch_rules.facts.words import binary_bytes, counted

RULE = RuleInfo(
    name="weights-exceed-memory",
    severity="error",
    category="serving",
    summary="The weights alone do not fit into the GPU memory of the serving settings",
    when="serving",
)

RESERVE = 0.1
"""Share of GPU memory that engines keep for activations and the runtime (vLLM's gpu_memory_utilization is 0.9)."""


def check(context: Context) -> Iterator[Finding]:
    serving = context.options.serving
    memory, one = memory_bytes(serving), gpu_memory_gib(serving)
    if memory is None or one is None or context.analysis.weights is None:
        return
    weights, checkpoint = context.analysis.weights, context.analysis.checkpoint
    size = checkpoint.bytes if checkpoint is not None and checkpoint.bytes else weights.bytes
    usable = memory * (1 - RESERVE)
    if size <= usable:
        return
    needed = -(-size // int(one * (1 << 30) * (1 - RESERVE)))
    yield Finding(
        f"the weights take {binary_bytes(size)}, but {counted(gpu_count(serving), 'GPU')} of {one:.4g} GiB leave "
        f"{binary_bytes(int(usable))} beside the reserve of {RESERVE:.0%}: {counted(needed, 'GPU')} of this kind "
        "would hold them",
        Place(""),
    )
