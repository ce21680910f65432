"""What works when one token is generated: neither towers nor the encoder, which have read their input before.

Nor do the matrices that turn what the encoder found into keys and values, which are cached.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from neurarch_schemas.accounting.flops import TOWERS, ForwardCost, cost_of
from neurarch_schemas.modules.tree import Module, Visit, walk

if TYPE_CHECKING:
    from collections.abc import Sequence


def generation_cost(tree: Module) -> ForwardCost:
    """As ``forward_cost``, of the modules that run for every new token."""
    visits = list(walk(tree))
    waits = _waiting(visits)
    return cost_of(visit for visit in visits if visit.part not in TOWERS and id(visit) not in waits)


def waiting_parameters(tree: Module) -> int:
    """Parameters that generating a token does not read: those of towers and of the encoder."""
    visits = list(walk(tree))
    waits = _waiting(visits)
    return sum(
        tensor.scalars * visit.times
        for visit in visits
        if visit.part in TOWERS or id(visit) in waits
        for tensor in visit.module.tensors
        if tensor.kind == "parameter" and tensor.tied_to is None
    )


def _waiting(visits: Sequence[Visit]) -> frozenset[int]:
    """Of a network that attends to an encoder, the modules below that encoder and the makers of its keys and values."""
    attends = {visit.path for visit in visits if visit.module.attention and visit.module.attention.kind == "cross"}
    makers = {f"{path}.{name}" for path in attends for name in ("k", "v", "k_proj", "v_proj")}
    return frozenset(
        id(visit) for visit in visits if attends and ("encoder" in visit.path.split(".") or visit.path in makers)
    )
