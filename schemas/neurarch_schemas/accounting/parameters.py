"""Parameter counts of a tree: total, active per token, buffers, by part of the network. Exact integers."""

from __future__ import annotations

from neurarch_schemas.modules.tree import Module, Part, Tensor, Visit, join, walk
from neurarch_schemas.record import Record


class ParameterCount(Record):
    """Scalars. ``active`` leaves the input embedding (a lookup) out; a matrix tied to the head counts once, as head."""

    total: int
    active: int
    active_with_embeddings: int
    buffers: int
    by_part: tuple[tuple[Part, int], ...]

    @property
    def stored(self) -> int:
        """What a checkpoint of the plain model stores: parameters and persistent buffers, tied tensors once."""
        return self.total + self.buffers


def count_parameters(tree: Module) -> ParameterCount:
    return count_visited(tuple(walk(tree)))


def count_visited(visits: tuple[Visit, ...]) -> ParameterCount:
    """As ``count_parameters``, for a tree that has been walked."""
    shared = _shared_with_head(visits)
    total = active = lookups = buffers = 0
    parts: dict[Part, int] = {}
    for visit in visits:
        for tensor in visit.module.tensors:
            if tensor.tied_to is not None:
                continue
            scalars = tensor.scalars * visit.times
            if tensor.kind == "buffer":
                buffers += scalars
                continue
            total += scalars
            parts[visit.part] = parts.get(visit.part, 0) + scalars
            if visit.module.lookup and not _is_shared(visit, tensor, shared):
                lookups += scalars
            else:
                active += active_share(scalars, visit)
    return ParameterCount(total, active, active + lookups, buffers, tuple(parts.items()))


def active_share(scalars: int, visit: Visit) -> int:
    """The part of ``scalars`` that works on one token: ``active`` of ``total`` experts below a routing, else all."""
    routing = visit.routing
    if routing is None or not routing.total:
        return scalars
    return scalars * min(routing.active, routing.total) // routing.total


def _shared_with_head(visits: tuple[Visit, ...]) -> frozenset[str]:
    """Names, as seen from the module that holds both, of the tensors a head shares."""
    return frozenset(
        tensor.tied_to
        for visit in visits
        if visit.part == "head"
        for tensor in visit.module.tensors
        if tensor.tied_to is not None
    )


def _is_shared(visit: Visit, tensor: Tensor, shared: frozenset[str]) -> bool:
    name = join(visit.path, tensor.name)
    return any(name == other or name.endswith("." + other) for other in shared)
