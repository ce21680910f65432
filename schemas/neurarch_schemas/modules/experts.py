"""Mixtures of experts. transformers 5 fuses the experts of a layer into one tensor a projection."""

from __future__ import annotations

from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.modules.feed_forward import gated_mlp
from neurarch_schemas.modules.tree import Module, Routing, Stack, Tensor, named

MOST_NAMED_EXPERTS = 2048


def fused_experts(
    hidden: int,
    intermediate: int,
    experts: int,
    active: int,
    *,
    gated: bool = True,
    bias: bool = False,
    transposed: bool = False,
    names: tuple[str, str] = ("gate_up_proj", "down_proj"),
) -> Module:
    """``experts`` feed-forward networks in two tensors ``(experts, out, in)``, ``(experts, in, out)`` if transposed.

    ``active`` of them work on each token.
    """
    inner = 2 * intermediate if gated else intermediate
    up = (experts, hidden, inner) if transposed else (experts, inner, hidden)
    down = (experts, intermediate, hidden) if transposed else (experts, hidden, intermediate)
    first, second = names
    tensors = [Tensor(first, up)]
    if bias:
        tensors.append(Tensor(f"{first}_bias", (experts, inner)))
    tensors.append(Tensor(second, down))
    if bias:
        tensors.append(Tensor(f"{second}_bias", (experts, hidden)))
    return Module(
        "Experts",
        tuple(tensors),
        part="experts",
        routing=Routing(experts, active),
        multiply_accumulates=active * (hidden * inner + intermediate * hidden),
        width_in=hidden,
        width_out=hidden,
    )


def router(hidden: int, experts: int, *, bias: bool = False, correction_bias: str | None = None) -> Module:
    """Scores ``(experts, hidden)``; ``correction_bias`` names a buffer of one balancing bias an expert."""
    tensors = [Tensor("weight", (experts, hidden))]
    if bias:
        tensors.append(Tensor("bias", (experts,)))
    if correction_bias:
        tensors.append(Tensor(correction_bias, (experts,), "buffer"))
    return Module("Router", tuple(tensors), part="router", multiply_accumulates=hidden * experts, width_in=hidden)


def shared_experts(hidden: int, intermediate: int, bias: bool = False) -> Module:
    """A gated MLP that works on every token beside the routed experts."""
    return gated_mlp(hidden, intermediate, bias, part="shared experts")


def mixture_of_experts(
    hidden: int,
    gate: Module,
    experts: Module,
    *,
    names: tuple[str, str] = ("gate", "experts"),
    extra: dict[str, Module | Stack | None] | None = None,
    correction_bias: str | None = None,
) -> Module:
    """Router and experts, with shared experts and the like in ``extra``.

    ``correction_bias`` names a balancing buffer of one scalar an expert that stands on this module, not on the router.
    """
    buffers: tuple[Tensor, ...] = ()
    if correction_bias is not None and experts.routing is not None:
        buffers = (Tensor(correction_bias, (experts.routing.total,), "buffer"),)
    parts: dict[str, Module | Stack | None] = {names[0]: gate, names[1]: experts, **(extra or {})}
    return Module("MixtureOfExperts", buffers, named(parts), part="router", width_in=hidden, width_out=hidden)


def named_experts(
    expert: Module, experts: int, active: int, *, prefix: str = "expert_", multiply_accumulates: int = 0
) -> Module:
    """Experts kept one by one under names of their own (``expert_0``, ``expert_1``), not fused, not a list.

    ``multiply_accumulates`` are those of one expert, whose own are left out here. Raises CannotBuild for more experts
    than any model has, because every one of them is listed by name.
    """
    if experts > MOST_NAMED_EXPERTS:
        raise CannotBuild(f"{experts} experts cannot be listed by name", ("num_experts",))
    return Module(
        "Experts",
        children=tuple((f"{prefix}{index}", expert) for index in range(experts)),
        part="experts",
        routing=Routing(experts, active, fused=False),
        multiply_accumulates=active * multiply_accumulates,
    )
