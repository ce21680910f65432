"""Linear attention with a matrix-valued state: gated delta rule (arXiv:2412.06464), lightning attention, mLSTM."""

from __future__ import annotations

from neurarch_schemas.modules.layers import linear, rms_norm
from neurarch_schemas.modules.state_space import causal_convolution, state_caches
from neurarch_schemas.modules.tree import AttentionShape, Cache, Module, Stack, Tensor, named


def linear_attention(
    tensors: tuple[Tensor, ...],
    children: dict[str, Module | Stack | None],
    *,
    hidden: int,
    key_heads: int,
    value_heads: int,
    key_dim: int,
    value_dim: int,
    caches: tuple[Cache, ...],
    type: str = "LinearAttention",  # noqa: A002  # the field is called type everywhere
) -> Module:
    """A mixer whose state is one ``key_dim x value_dim`` matrix a value head, updated and read once a token."""
    return Module(
        type,
        tensors,
        named(children),
        part="linear attention",
        attention=AttentionShape(value_heads, key_heads, key_dim, value_dim, "linear", position="none"),
        caches=caches,
        multiply_accumulates=2 * value_heads * key_dim * value_dim,
        width_in=hidden,
        width_out=hidden,
    )


def gated_delta_net(
    projections: dict[str, Module | Stack | None],
    *,
    hidden: int,
    key_heads: int,
    value_heads: int,
    key_dim: int,
    value_dim: int,
    kernel: int,
) -> Module:
    """Gated delta rule behind one causal convolution over queries, keys and values.

    ``projections`` are the family's input projections, output norm and output projection.
    """
    channels = 2 * key_heads * key_dim + value_heads * value_dim
    return linear_attention(
        (Tensor("dt_bias", (value_heads,)), Tensor("A_log", (value_heads,))),
        {"conv1d": causal_convolution(channels, kernel, bias=False), **projections},
        hidden=hidden,
        key_heads=key_heads,
        value_heads=value_heads,
        key_dim=key_dim,
        value_dim=value_dim,
        caches=state_caches(channels, kernel, value_heads * key_dim * value_dim),
        type="GatedDeltaNet",
    )


def kimi_delta_attention(
    hidden: int,
    heads: int,
    dim: int,
    kernel: int,
    *,
    forget_gate: Module,
    output_gate: dict[str, Module | Stack | None],
) -> Module:
    """Gated delta rule with a decay for every channel (arXiv:2510.26692); keys and values have ``heads`` of ``dim``.

    ``forget_gate`` makes the decays, ``output_gate`` are the projections that gate the normed output.
    """
    width = heads * dim
    return linear_attention(
        (),
        {
            "q_proj": linear(hidden, width, bias=False),
            "k_proj": linear(hidden, width, bias=False),
            "v_proj": linear(hidden, width, bias=False),
            "conv1d": causal_convolution(3 * width, kernel, bias=False),
            "forget_gate": forget_gate,
            "b_proj": linear(hidden, heads, bias=False),
            **output_gate,
            "o_norm": rms_norm(dim),
            "o_proj": linear(width, hidden, bias=False),
        },
        hidden=hidden,
        key_heads=heads,
        value_heads=heads,
        key_dim=dim,
        value_dim=dim,
        caches=state_caches(3 * width, kernel, heads * dim * dim),
        type="KimiDeltaAttention",
    )


def output_projection(value_heads: int, value_dim: int, hidden: int) -> Module:
    return linear(value_heads * value_dim, hidden, bias=False)
