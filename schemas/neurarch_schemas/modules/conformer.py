"""Conformer blocks (arXiv:2005.08100): two half-step feed-forward blocks around attention and a convolution."""

from __future__ import annotations

from neurarch_schemas.modules.attention import attention
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import convolution, layer_norm, linear
from neurarch_schemas.modules.tree import Module, Stack, Tensor, children, named

NORMS = ("norm_feed_forward1", "norm_self_att", "norm_conv", "norm_feed_forward2", "norm_out")


def relative_attention(hidden: int, heads: int, kv_heads: int | None, head_dim: int | None, bias: bool) -> Module:
    """Attention with relative positions as in Transformer-XL (arXiv:1901.02860): projected, with two learned biases."""
    dim = hidden // heads if head_dim is None else head_dim
    block = attention(
        hidden,
        heads,
        kv_heads,
        head_dim,
        bias=bias,
        extra={"relative_k_proj": linear(hidden, heads * dim, bias=False)},
        kind="encoder",
        position="relative",
        cached=False,
    )
    return block.with_(tensors=(Tensor("bias_u", (heads, dim)), Tensor("bias_v", (heads, dim))))


def convolution_module(hidden: int, kernel: int, norm: Module, *, bias: bool) -> Module:
    """A gated pointwise convolution, a depthwise one of ``kernel`` frames, ``norm``, and a pointwise one back."""
    return Module(
        "ConvolutionModule",
        children=children(
            pointwise_conv1=convolution(hidden, 2 * hidden, (1,), bias=bias),
            depthwise_conv=convolution(hidden, hidden, (kernel,), bias=bias, groups=hidden),
            norm=norm,
            pointwise_conv2=convolution(hidden, hidden, (1,), bias=bias),
        ),
        part="convolution",
    )


def conformer_block(
    hidden: int, inner: int, mixer: Module, conv: Module, *, bias: bool, norm: Module | None = None
) -> Module:
    """``bias`` is that of the feed-forward blocks, ``norm`` (LayerNorm by default) stands in front of each part."""
    feed_forward = mlp(hidden, inner, bias, names=("linear1", "linear2"))
    normalization = layer_norm(hidden) if norm is None else norm
    parts: dict[str, Module | Stack | None] = {
        "feed_forward1": feed_forward,
        "self_attn": mixer,
        "conv": conv,
        "feed_forward2": feed_forward,
        **dict.fromkeys(NORMS, normalization),
    }
    return Module("ConformerBlock", children=named(parts), width_in=hidden, width_out=hidden)
