"""What works when one token is generated: neither towers nor the encoder, which have read their input before.

Nor do the matrices that turn what the encoder found into keys and values, which are cached.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from neurarch_schemas.accounting.flops import ForwardCost, cost_of
from neurarch_schemas.modules.tree import TOWERS, Module, Visit, walk
from neurarch_schemas.record import Record

if TYPE_CHECKING:
    from collections.abc import Sequence


class Generation(Record):
    """``cost`` is that of the modules that run for every new token; ``waiting`` the parameters of all others."""

    cost: ForwardCost
    waiting: int


def generation(tree: Module) -> Generation:
    """The work of one new token; without an encoder and towers that of the whole network."""
    visits = list(walk(tree))
    waits = _waiting(visits)
    runs: list[Visit] = []
    waiting = 0
    for visit in visits:
        if visit.part in TOWERS or id(visit) in waits:
            waiting += visit.times * sum(
                tensor.scalars
                for tensor in visit.module.tensors
                if tensor.kind == "parameter" and tensor.tied_to is None
            )
        else:
            runs.append(visit)
    return Generation(cost_of(runs), waiting)


def _waiting(visits: Sequence[Visit]) -> frozenset[int]:
    """Of a network that attends to an encoder, the modules below that encoder and the makers of its keys and values."""
    attends = {visit.path for visit in visits if visit.module.attention and visit.module.attention.kind == "cross"}
    makers = {f"{path}.{name}" for path in attends for name in ("k", "v", "k_proj", "v_proj")}
    return frozenset(
        id(visit) for visit in visits if attends and ("encoder" in visit.path.split(".") or visit.path in makers)
    )
