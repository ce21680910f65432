"""T5's blocks (arXiv:1910.10683): attention with relative-position biases, RMS norms, feed-forwards without biases."""

from __future__ import annotations

from collections.abc import Callable

from neurarch_schemas.config.layer_pattern import LayerPattern
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.encoder import Role, encoder_attention
from neurarch_schemas.modules.layers import linear, position_embedding, rms_norm
from neurarch_schemas.modules.tree import Module, Stack, named


def t5_attention(
    hidden: int, heads: int, head_dim: int, role: Role, *, buckets: int | None, source_length: int | None = None
) -> Module:
    """``buckets``: rows of this layer's own table of relative-position biases, None without one."""
    extra = None if buckets is None else {"relative_attention_bias": position_embedding(buckets, heads)}
    return encoder_attention(
        hidden,
        heads,
        head_dim=head_dim,
        names=("q", "k", "v", "o"),
        bias=False,
        role=role,
        source_length=source_length,
        position="relative",
        extra=extra,
    )


def t5_feed_forward(hidden: int, intermediate: int, gated: bool) -> Module:
    children: dict[str, Module | Stack | None] = {
        name: linear(hidden, intermediate, bias=False) for name in (("wi_0", "wi_1") if gated else ("wi",))
    }
    children["wo"] = linear(intermediate, hidden, bias=False)
    return Module("FeedForward", children=named(children), part="feed-forward", width_in=hidden, width_out=hidden)


def t5_block(
    hidden: int, attention: Module, cross: Module | None, feed_forward: dict[str, Module], name: str
) -> Module:
    """Two or three sublayers, each with its norm; ``name`` is the attribute of the self-attention."""
    sublayers: list[dict[str, Module]] = [{name: attention}]
    if cross is not None:
        sublayers.append({"EncDecAttention": cross})
    sublayers.append(feed_forward)
    children: dict[str, Module | Stack | None] = {
        f"layer.{index}": Module("Sublayer", children=named({**sublayer, "layer_norm": rms_norm(hidden)}))
        for index, sublayer in enumerate(sublayers)
    }
    return Module("Block", children=named(children), width_in=hidden, width_out=hidden)


def first_and_rest(count: int) -> LayerPattern[bool]:
    """True for the first layer, which owns the relative-position biases, False for the others."""
    return LayerPattern.constant(True, min(count, 1)) + LayerPattern.constant(False, max(count - 1, 0))


def t5_blocks(count: int, sparse: LayerPattern[bool], build: Callable[[tuple[bool, bool]], Module]) -> Stack:
    """``count`` blocks; ``build`` gets (is the first, has experts)."""
    return layers(first_and_rest(count).zip(sparse), build)
