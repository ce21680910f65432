"""Trainable parameters of a low-rank adapter: r x (in + out) for each adapted matrix.

Source: Hu et al. 2021 (arXiv:2106.09685), section 4.1.
"""

from __future__ import annotations

from collections.abc import Callable

from neurarch_schemas.modules.tree import Module, walk


def lora_parameters(tree: Module, rank: int, adapts: Callable[[str, Module], bool] | None = None) -> int:
    """``adapts(name pattern, module)`` chooses the matrices; the default is PEFT's "all-linear": all but the head.

    Routers and fused experts are no linear layers in transformers and are left out by that default.
    """
    total = 0
    for visit in walk(tree):
        module = visit.module
        if module.type not in ("Linear", "Conv1D") or not module.width_in or not module.width_out:
            continue
        if adapts(visit.path, module) if adapts is not None else visit.part not in ("head", "router"):
            total += rank * (module.width_in + module.width_out) * visit.times
    return total
