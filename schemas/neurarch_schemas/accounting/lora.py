"""Trainable parameters of a low-rank adapter: r x (in + out) for each adapted matrix.

Source: Hu et al. 2021 (arXiv:2106.09685), section 4.1.
"""

from __future__ import annotations

from collections.abc import Callable

from neurarch_schemas.modules.tree import Module, walk

ALL_LINEAR = "all-linear"
FOUR_BITS = (4 + 0.127) / 8
"""Bytes of a weight in 4-bit NormalFloat with doubly quantized constants (Dettmers et al. 2023, section 3)."""


def adapts(targets: str) -> Callable[[str, Module], bool] | None:
    """The choice that PEFT's ``target_modules`` makes: "all-linear" (None), or last names ("q_proj,v_proj")."""
    if targets == ALL_LINEAR:
        return None
    names = frozenset(name.strip() for name in targets.split(","))
    return lambda path, _: path.rpartition(".")[2] in names


def four_bit_bytes(tree: Module) -> int:
    """A base model as QLoRA freezes it: linear layers and experts in 4 bits, the head and all else in 16."""
    four = sixteen = 0
    for visit in walk(tree):
        matrices = visit.module.type in ("Linear", "Conv1D", "Experts") and visit.part not in ("head", "router")
        for tensor in visit.module.tensors:
            if tensor.tied_to is None and tensor.kind == "parameter":
                if matrices and len(tensor.shape) >= 2:
                    four += tensor.scalars * visit.times
                else:
                    sixteen += tensor.scalars * visit.times
    return round(four * FOUR_BITS) + 2 * sixteen


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
