"""Feed-forward blocks of dense layers and shared experts."""

from __future__ import annotations

from neurarch_schemas.modules.layers import linear
from neurarch_schemas.modules.tree import Module, Part, named


def gated_mlp(
    hidden: int,
    intermediate: int,
    bias: bool = False,
    *,
    names: tuple[str, str, str] = ("gate_proj", "up_proj", "down_proj"),
    part: Part = "feed-forward",
    type: str = "GatedMLP",  # noqa: A002  # the field is called type everywhere
) -> Module:
    """down(act(gate(x)) * up(x)), as in SwiGLU (arXiv:2002.05202)."""
    gate, up, down = names
    return Module(
        type,
        children=named(
            {
                gate: linear(hidden, intermediate, bias),
                up: linear(hidden, intermediate, bias),
                down: linear(intermediate, hidden, bias),
            }
        ),
        part=part,
        width_in=hidden,
        width_out=hidden,
    )


def fused_gated_mlp(
    hidden: int,
    intermediate: int,
    bias: bool = False,
    *,
    names: tuple[str, str] = ("gate_up_proj", "down_proj"),
    part: Part = "feed-forward",
) -> Module:
    """A gated MLP whose gate and up projections are one matrix."""
    gate_up, down = names
    return Module(
        "GatedMLP",
        children=named({gate_up: linear(hidden, 2 * intermediate, bias), down: linear(intermediate, hidden, bias)}),
        part=part,
        width_in=hidden,
        width_out=hidden,
    )


def mlp(
    hidden: int,
    intermediate: int,
    bias: bool = True,
    *,
    names: tuple[str, str] = ("fc1", "fc2"),
    out: int | None = None,
    part: Part = "feed-forward",
    type: str = "MLP",  # noqa: A002  # the field is called type everywhere
) -> Module:
    """down(act(up(x)))."""
    first, second = names
    return Module(
        type,
        children=named({first: linear(hidden, intermediate, bias), second: linear(intermediate, out or hidden, bias)}),
        part=part,
        width_in=hidden,
        width_out=out or hidden,
    )
