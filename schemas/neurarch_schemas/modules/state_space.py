"""State-space mixers: Mamba (arXiv:2312.00752), Mamba 2 (arXiv:2405.21060), gated short convolutions, RG-LRU."""

from __future__ import annotations

from neurarch_schemas.modules.layers import convolution, linear, rms_norm
from neurarch_schemas.modules.tree import Cache, Module, Tensor, children


def causal_convolution(channels: int, kernel: int, *, bias: bool) -> Module:
    """One filter a channel over the last ``kernel`` positions."""
    return convolution(channels, channels, (kernel,), bias=bias, groups=channels)


def state_caches(channels: int, kernel: int, state: int) -> tuple[Cache, ...]:
    """The last ``kernel`` inputs of the convolution and a recurrent state of ``state`` scalars, whatever the length.

    transformers keeps ``kernel`` positions; a serving engine may keep one fewer.
    """
    return (Cache("convolution", constant=channels * kernel), Cache("recurrent", constant=state))


def mamba_mixer(
    hidden: int,
    intermediate: int,
    state: int,
    kernel: int,
    time_step_rank: int,
    *,
    bias: bool,
    conv_bias: bool,
    inner_norms: bool = False,
) -> Module:
    """Selective state space: every channel has a state of ``state`` scalars and its own decay.

    ``bias`` is that of the input and output projections; ``inner_norms`` are Jamba's norms of time step, B and C.
    """
    norms = {
        "dt_layernorm": rms_norm(time_step_rank) if inner_norms else None,
        "b_layernorm": rms_norm(state) if inner_norms else None,
        "c_layernorm": rms_norm(state) if inner_norms else None,
    }
    return Module(
        "MambaMixer",
        (Tensor("A_log", (intermediate, state)), Tensor("D", (intermediate,))),
        children(
            conv1d=causal_convolution(intermediate, kernel, bias=conv_bias),
            in_proj=linear(hidden, 2 * intermediate, bias),
            x_proj=linear(intermediate, time_step_rank + 2 * state, bias=False),
            dt_proj=linear(time_step_rank, intermediate),
            out_proj=linear(intermediate, hidden, bias),
            **norms,
        ),
        part="state space",
        caches=state_caches(intermediate, kernel, intermediate * state),
        multiply_accumulates=2 * intermediate * state,
        width_in=hidden,
        width_out=hidden,
    )


def mamba2_mixer(
    hidden: int,
    intermediate: int,
    heads: int,
    head_dim: int,
    groups: int,
    state: int,
    kernel: int,
    *,
    bias: bool,
    conv_bias: bool,
    out_bias: bool | None = None,
    norm: bool = True,
) -> Module:
    """Structured state-space duality: one decay a head, B and C shared by the heads of a group.

    ``intermediate`` is the width of the values, heads * head_dim in a model that runs.
    """
    channels = intermediate + 2 * groups * state
    return Module(
        "Mamba2Mixer",
        (Tensor("dt_bias", (heads,)), Tensor("A_log", (heads,)), Tensor("D", (heads,))),
        children(
            conv1d=causal_convolution(channels, kernel, bias=conv_bias),
            in_proj=linear(hidden, intermediate + channels + heads, bias),
            norm=rms_norm(intermediate) if norm else None,
            out_proj=linear(intermediate, hidden, bias if out_bias is None else out_bias),
        ),
        part="state space",
        caches=state_caches(channels, kernel, heads * head_dim * state),
        multiply_accumulates=2 * heads * head_dim * state,
        width_in=hidden,
        width_out=hidden,
    )


def short_convolution(hidden: int, kernel: int, *, bias: bool) -> Module:
    """LFM2's gated convolution: three projections of the input, two of them gates."""
    return Module(
        "ShortConvolution",
        children=children(
            conv=causal_convolution(hidden, kernel, bias=bias),
            in_proj=linear(hidden, 3 * hidden, bias),
            out_proj=linear(hidden, hidden, bias),
        ),
        part="convolution",
        caches=(Cache("convolution", constant=hidden * kernel),),
        width_in=hidden,
        width_out=hidden,
    )


def cached_convolution(channels: int, kernel: int) -> Module:
    """A causal convolution on its own, without bias, that keeps its last ``kernel`` inputs while decoding."""
    return Module(
        "ShortConvolution",
        children=children(conv1d=causal_convolution(channels, kernel, bias=False)),
        part="convolution",
        caches=(Cache("convolution", constant=channels * kernel),),
        width_in=channels,
        width_out=channels,
    )
